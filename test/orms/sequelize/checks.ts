/** What once went wrong, or lies in wait for it. Prints what each of them came to. */
import { openIdService } from '@raindrop/node';
import { type KeyIds, snowflakeKey, snowflakeReference } from '@raindrop/orm/sequelize';
import { createRequire } from 'node:module';
import { DataTypes, Model, type ModelStatic, type Options, QueryTypes, Sequelize } from 'sequelize';
import { codeOf, connect, database, dbConfig, dialect, isMysql, openShop, Order } from './shop.js';

const { createNamespace } = createRequire(import.meta.url)('cls-hooked') as { createNamespace(name: string): object };
const shop = await openShop('text');
const { sequelize, ids } = shop;
const queries = sequelize.getQueryInterface();

const outcome = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    return codeOf(error).replace('refused: ', '');
  }
};

let codes = 0;
const code = (): string => `code ${++codes}`;

/** A model of its own, whose table is made anew. */
async function table(
  name: string,
  attributes: object,
  options: object = {},
  on = sequelize,
): Promise<ModelStatic<Model>> {
  const made = on.define(name, attributes as never, { tableName: name, timestamps: false, ...options });
  await made.sync({ force: true });
  return made;
}

const idOf = (instance: Model | undefined | null): string => String(instance?.get('id'));
const plain = (instances: readonly Model[], name = 'id'): unknown[] => instances.map((each) => each.get(name));

/** Whether instances have the IDs of their rows. */
async function areStored(model: ModelStatic<Model>, instances: readonly Model[]): Promise<boolean> {
  const rows = await model.unscoped().findAll({ paranoid: false });
  const stored = new Set(rows.map(idOf));
  return instances.length > 0 && instances.every((each) => stored.has(idOf(each)));
}

const checks: Readonly<Record<string, () => Promise<unknown>>> = {
  'without withSnowflakes()': async () => {
    const bare = connect({}, true);
    const made = bare.define('bare', { id: snowflakeKey({ ids }) });
    const results = [await outcome(() => made.build()), await outcome(() => made.sync())];
    await bare.close();
    return results;
  },
  'wrong options': async () => [
    await outcome(() => snowflakeKey({ as: 'text' as never })),
    await outcome(() => snowflakeKey({ as: 'bigint', prefix: 'order' })),
  ],
  'a key that counts': async () => {
    const made = await table('counting', {
      id: { ...snowflakeKey({ ids }), autoIncrement: true },
      name: DataTypes.STRING,
    });
    const raw = await outcome(() => sequelize.query(`insert into counting (name) values ('x')`));
    return [raw, await areStored(made, [await made.create(), ...(await made.bulkCreate([{}, {}]))])];
  },
  'hooks of the application stay': async () => {
    const called: string[] = [];
    const hooks: Options['hooks'] = {
      afterDefine: () => void called.push('define'),
      beforeCreate: () => void called.push('create'),
    };
    const own = connect({ hooks });
    const made = await table('hooked', { id: snowflakeKey({ ids }) }, {}, own);
    await made.create();
    await own.close();
    return called;
  },
  'a hook that takes the key out of the fields': () =>
    outcome(async () => {
      const made = await table(
        'fields',
        { id: snowflakeKey({ ids }), name: DataTypes.STRING },
        {
          hooks: { beforeBulkCreate: (_: unknown, options: { fields: string[] }) => void (options.fields = ['name']) },
        },
      );
      await made.bulkCreate([{ name: 'a' }]);
    }),
  'what hooks after an insert see': async () => {
    const seen: unknown[] = [];
    const made = await table(
      'seen',
      { id: snowflakeKey({ ids }), code: { type: DataTypes.STRING, unique: true } },
      {
        hooks: {
          afterCreate: (one: Model) => void seen.push(idOf(one)),
          afterUpsert: ([one]: [Model]) => void seen.push(idOf(one)),
          afterBulkCreate: (all: Model[]) => void seen.push(...all.map(idOf)),
        },
      },
    );
    const id = idOf(await made.create({ code: 'a' }));
    await made.upsert({ code: 'a' });
    await made.bulkCreate([{ code: 'a' }], { updateOnDuplicate: ['code'] as never });
    await made.bulkCreate([{ code: 'a' }], { ignoreDuplicates: true });
    return seen.map((each) => (each === id ? 'its ID' : each));
  },
  'what individual hooks of an upsert see': async () => {
    // Elsewhere Sequelize itself cannot do it.
    if (!isMysql) return true;
    const seen: string[] = [];
    const made = await table(
      'individually',
      { id: snowflakeKey({ ids }), code: { type: DataTypes.STRING, unique: true } },
      { hooks: { afterCreate: (one: Model) => void seen.push(idOf(one)) } },
    );
    const id = idOf(await made.create({ code: 'a' }));
    await made.bulkCreate([{ code: 'a' }], { individualHooks: true, updateOnDuplicate: ['code'] as never });
    return seen.every((each) => each === id);
  },
  // Sequelize takes it for the row of a join that found none.
  'items with a key that is null': async () => {
    const items = [{ id: null, name: 'x' }];
    const order = await Order.create({ code: code(), items }, { include: ['items'] });
    return order.items?.length;
  },
  'a model that is defined again': async () => {
    class Again extends Model {}
    for (let n = 0; n < 2; n++) {
      Again.init(
        { id: snowflakeKey({ ids }), code: { type: DataTypes.STRING, unique: true } },
        { sequelize, tableName: 'agains' },
      );
    }
    await Again.sync({ force: true });
    const first = await Again.create({ code: 'a' });
    const ignored = await Again.bulkCreate([{ code: 'a' }, { code: 'b' }], {
      fields: ['code'],
      ignoreDuplicates: true,
    });
    return [await areStored(Again, [first, ignored[1]!]), idOf(ignored[0])];
  },
  'attributes of two models': async () => {
    const attributes = { id: snowflakeKey({ ids }), name: DataTypes.STRING };
    const [one, two] = [await table('ones', attributes), await table('twos', attributes)];
    return [await areStored(one, [await one.create()]), await areStored(two, await two.bulkCreate([{}, {}]))];
  },
  'a model of a model': async () => {
    class Base extends Model {}
    Base.init({ id: snowflakeKey({ ids }) }, { sequelize, tableName: 'bases' });
    class Special extends Base {}
    Special.init({ id: snowflakeKey({ ids }), name: DataTypes.STRING }, { sequelize, tableName: 'specials' });
    await Special.sync({ force: true });
    return areStored(Special, [await Special.create(), ...(await Special.bulkCreate([{}], { fields: ['name'] }))]);
  },
  'a model of another schema': async () => {
    if (dialect !== 'postgres') return true;
    await queries.createSchema('archive').catch(() => undefined);
    const archive = (await table('archived', { id: snowflakeKey({ ids }), name: DataTypes.STRING })).schema('archive');
    await archive.sync({ force: true });
    const all = await archive.bulkCreate([{ name: 'a' }], { fields: ['name'] });
    return areStored(archive, [...all, await archive.create()]);
  },
  'a key that is not the primary one': async () => {
    const made = await table('publics', {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      publicId: { ...snowflakeKey({ ids, prefix: 'order' }), primaryKey: false, unique: true, field: 'public_id' },
      code: { type: DataTypes.STRING, unique: true },
    });
    const first = await made.create({ code: 'a' }, { fields: ['code'] });
    const [, second] = await made.bulkCreate([{ code: 'a' }, { code: 'b' }], {
      fields: ['code'],
      ignoreDuplicates: true,
    });
    const [upserted] = await made.bulkCreate([{ code: 'a' }], {
      updateOnDuplicate: ['code'] as never,
      conflictAttributes: ['code'] as never,
    });
    await queries.bulkInsert('publics', [{ code: 'c' }]);
    const stored = plain(await made.findAll({ order: ['code'] }), 'publicId');
    return {
      typed: stored.every((id) => /^order_\w{11}$/.test(String(id))),
      first: first.get('publicId') === stored[0],
      second: second!.get('publicId') === stored[1],
      upserted: upserted!.get('publicId') === stored[0],
      rows: stored.length,
      found: (await made.findOne({ where: { publicId: stored[1] as string } }))?.get('code'),
    };
  },
  'timestamps, soft deletion, versions': async () => {
    const made = await table(
      'versioned',
      {
        id: snowflakeKey({ ids, as: 'bigint' }),
        code: { type: DataTypes.STRING, unique: true },
        note: DataTypes.STRING,
      },
      { timestamps: true, paranoid: true, version: true, defaultScope: { where: { note: 'seen' } } },
    );
    const order = await made.create({ code: 'a', note: 'unseen' });
    await order.update({ note: 'still unseen' });
    await order.destroy();
    const [upserted] = await made.upsert({ code: 'a', note: 'upserted' });
    const [bulk] = await made.bulkCreate([{ code: 'a', note: 'b' }], { updateOnDuplicate: ['note'] as never });
    await order.restore();
    const found = await made.unscoped().findByPk(order.get('id') as bigint);
    return [
      typeof found?.get('id'),
      found?.get('id') === order.get('id'),
      idOf(upserted) === idOf(order),
      idOf(bulk) === idOf(order),
    ];
  },
  'the row was there, seen by no snapshot': async () => {
    if (!isMysql) return true;
    return sequelize.transaction(async (transaction) => {
      await Order.count({ transaction });
      const same = { code: code(), customer: 'the same' };
      const { id } = await Order.create(same);
      const [upserted] = await Order.upsert(same, { transaction });
      const [bulk] = await Order.bulkCreate([same], { transaction, updateOnDuplicate: ['customer'] });
      return upserted.id === id && bulk!.id === id;
    });
  },
  'a replica that has nothing yet': async () => {
    if (dialect === 'sqlite') return true;
    const { host, port, username, password, database: name } = database;
    const other = dialect === 'postgres' ? 'template1' : 'mysql';
    const server = { host, port, username, password };
    const replicated = connect({
      replication: { write: { ...server, database: name }, read: [{ ...server, database: other }] },
    });
    const made = replicated.define(
      'replicated',
      { id: snowflakeKey({ ids }), code: { type: DataTypes.STRING, unique: true } },
      { tableName: 'orders', timestamps: false },
    );
    const value = code();
    const { id } = await Order.create({ code: value });
    const [upserted] = await made.upsert({ code: value }, { returning: false });
    const [ignored, added] = await made.bulkCreate([{ code: value }, { code: code() }], { ignoreDuplicates: true });
    await replicated.close();
    return [idOf(upserted) === id, idOf(ignored), (await Order.count({ where: { id: idOf(added) } })) === 1];
  },
  'two unique values of two rows': async () => {
    const made = await table('twice', {
      id: snowflakeKey({ ids }),
      code: { type: DataTypes.STRING, unique: true },
      mail: { type: DataTypes.STRING, unique: true },
    });
    await made.bulkCreate([
      { code: 'a', mail: 'a' },
      { code: 'b', mail: 'b' },
    ]);
    return outcome(async () => {
      const [row] = await made.upsert({ code: 'a', mail: 'b' });
      return idOf(row);
    });
  },
  'a name of another column': async () => {
    const made = await table('renamed', {
      orderId: { ...snowflakeKey({ ids }), field: 'order_id' },
      code: { type: DataTypes.STRING, field: 'the_code', unique: 'u' },
      part: { type: DataTypes.INTEGER, unique: 'u' },
    });
    const first = await made.create({ code: 'a', part: 1 });
    const [again] = await made.upsert({ code: 'a', part: 1 });
    const [bulk, added] = await made.bulkCreate(
      [
        { code: 'a', part: 1 },
        { code: 'a', part: 2 },
      ],
      { updateOnDuplicate: ['part'] as never },
    );
    const all = plain([first, again, bulk!], 'orderId');
    return [new Set(all).size, await made.count({ where: { orderId: added!.get('orderId') as string } })];
  },
  'records stay as they are': async () => {
    const records = [Object.freeze({ code: code() }), Object.freeze({ code: code(), id: null })];
    const orders = await Order.bulkCreate(records);
    await Order.upsert(Object.freeze({ id: null, code: code() }));
    return [
      JSON.stringify(records).includes('"id":"'),
      await areStored(Order, orders),
      (await Order.bulkCreate([])).length,
    ];
  },
  'invalid conditions': async () => [
    await outcome(() => Order.findAll({ where: { id: '1 or 1=1' } })),
    await outcome(() => Order.findAll({ where: { id: ['1', { toString: () => '2) or (1=1' }] as never } })),
    await outcome(() => Order.increment('quantity', { where: { id: 'x' } })),
    await outcome(() => Order.findByPk(undefined)),
    (await outcome(() => Order.findAll({ where: { id: null as never } }))) as unknown[],
  ],
  'an invalid foreign key': () => outcome(() => Order.create({ code: code(), customerId: 'Ada' })),
  'foreign keys that Sequelize makes': async () => {
    const owners = await table('owners', { id: snowflakeKey({ ids, prefix: 'owner' }) });
    const owned = sequelize.define('owned', { name: DataTypes.STRING }, { tableName: 'owned', timestamps: false });
    owners.hasMany(owned, { foreignKey: 'ownerId', as: 'all' });
    await owned.sync({ force: true });
    const owner = await owners.create();
    await owned.bulkCreate([{ ownerId: owner.get('id') }, { ownerId: owner.get('id') }]);
    await queries.bulkInsert('owned', [{ name: 'without an owner' }]);
    const [first] = await owned.findAll({ where: { ownerId: idOf(owner) } });
    const found = await owners.findOne({ include: [{ association: 'all', separate: true }] });
    return [first?.get('ownerId') === owner.get('id'), plain(found!.get('all') as Model[])];
  },
  'an include with options of its own': async () => {
    const group = await table('groups_of', {
      id: snowflakeKey({ ids }),
      name: { type: DataTypes.STRING, unique: true },
    });
    const member = await table('members', {
      id: snowflakeKey({ ids }),
      name: { type: DataTypes.STRING, unique: true },
      note: DataTypes.STRING,
      groupId: snowflakeReference(),
    });
    const joined = { through: 'group_members', timestamps: false };
    group.hasMany(member, { foreignKey: 'groupId', as: 'members' });
    member.belongsTo(group, { foreignKey: 'groupId', as: 'group' });
    group.belongsToMany(member, { ...joined, as: 'guests' });
    member.belongsToMany(group, { ...joined, as: 'visits' });
    await sequelize.models['group_members']!.sync({ force: true });
    const old = await member.create({ name: 'a', note: 'before' });
    const insert = async (as: string, options: object): Promise<unknown> => {
      const nested = [{ name: 'a', note: 'after' }, { name: code() }];
      const [made] = await group.bulkCreate([{ name: code(), [as]: nested }], {
        include: [{ association: as, ...options }],
      });
      const rows = await member.findAll();
      return (made!.get(as) as Model[]).map((each) => {
        const row = rows.find((one) => one.get('name') === each.get('name'));
        return each.get('id') === null ? null : idOf(row) === idOf(each);
      });
    };
    const results = [
      await insert('members', { updateOnDuplicate: ['id', 'note'] }),
      await insert('members', { ignoreDuplicates: true }),
      await outcome(() => insert('guests', { ignoreDuplicates: true })),
      await outcome(() =>
        member.bulkCreate([{ name: code(), group: { name: code() } }], {
          include: [{ association: 'group', ignoreDuplicates: true } as never],
        }),
      ),
      idOf(await member.findOne({ where: { name: 'a', note: 'after' } })) === idOf(old),
    ];
    await sequelize.models['group_members']!.drop();
    await member.drop();
    return results;
  },
  'an index with options': async () => {
    const made = await table(
      'indexed',
      { id: snowflakeKey({ ids }), code: DataTypes.STRING, note: DataTypes.STRING },
      { indexes: [{ unique: true, fields: [{ name: 'code', order: 'DESC' }] }] },
    );
    const { id } = (await made.create({ code: 'a' })).get() as { id: string };
    const [upserted] = await made.upsert(
      { code: 'a', note: 'after' },
      isMysql ? {} : { conflictFields: ['code'] as never },
    );
    return idOf(upserted) === id;
  },
  'an upsert of new rows and of one with its key, where the key alone is unique': async () => {
    const made = await table('mixed', { id: snowflakeKey({ ids }), name: DataTypes.STRING });
    const { id } = (await made.create({ name: 'before' })).get() as { id: string };
    const rows = [{ name: 'a' }, { id, name: 'after' }, { name: 'b' }];
    return outcome(async () => {
      const upserted = await made.bulkCreate(rows, { updateOnDuplicate: ['name'] as never });
      const stored = await made.findAll({ order: ['name'] });
      return [plain(stored, 'name').join(), idOf(upserted[1]) === id, await areStored(made, upserted)];
    });
  },
  'a unique key of ours before another unique attribute': async () => {
    const made = await table('two_uniques', {
      id: snowflakeKey({ ids }),
      publicId: { ...snowflakeKey({ ids }), primaryKey: false, unique: true, field: 'public_id' },
      email: { type: DataTypes.STRING, unique: true },
      name: DataTypes.STRING,
    });
    const first = await made.create({ email: 'a', name: 'before' });
    const results: unknown[] = [];
    for (const name of ['bulk', 'bulk and a new one', 'upsert', 'upsert of a key of null']) {
      const row = { email: 'a', name, ...(name.endsWith('null') && { publicId: null }) };
      const upserted = await outcome(async () =>
        name.startsWith('bulk')
          ? (
              await made.bulkCreate([row, ...(name === 'bulk' ? [] : [{ email: 'b', name }])], {
                updateOnDuplicate: ['name'] as never,
              })
            )[0]
          : (await made.upsert(row))[0],
      );
      const keys = ['id', 'publicId'].map((each) => first.get(each) === (upserted as Model).get?.(each));
      const stored = await made.findOne({ where: { email: 'a' } });
      results.push(upserted instanceof Model ? [...keys, stored?.get('name') === name] : upserted);
    }
    // The row is found by one key, and keeps the other.
    const [byKey] = await made.upsert({
      id: first.get('id'),
      publicId: ids.nextString(),
      email: 'a',
      name: 'by the key',
    });
    const stored = await made.findOne({ where: { name: 'by the key' } });
    const told = [stored, byKey].map((each) => each?.get('publicId') === first.get('publicId'));
    return [...results, [stored?.get('id') === first.get('id'), ...told]];
  },
  'a composite primary key with a key of ours': async () => {
    const made = await table('composite', {
      tenant: { type: DataTypes.INTEGER, primaryKey: true },
      id: snowflakeKey({ ids }),
      email: { type: DataTypes.STRING, unique: true },
      name: DataTypes.STRING,
    });
    const { id } = (await made.create({ tenant: 1, email: 'a', name: 'before' })).get() as { id: string };
    return outcome(async () => {
      const [upserted] = await made.upsert({ tenant: 1, email: 'a', name: 'upsert' });
      const [bulk] = await made.bulkCreate([{ tenant: 1, email: 'a', name: 'bulk' }], {
        updateOnDuplicate: ['name'] as never,
      });
      const [byKey] = await made.upsert({ tenant: 1, id, email: 'a', name: 'by the key' });
      const stored = await made.findAll();
      return [idOf(upserted) === id, idOf(bulk) === id, idOf(byKey) === id, plain(stored, 'name').join()];
    });
  },
  'statements that tell the keys of 1,200 rows that were there': async () => {
    const made = await table('many_rows', {
      id: snowflakeKey({ ids }),
      code: { type: DataTypes.STRING, unique: true },
      part: { type: DataTypes.INTEGER, unique: 'part' },
      version: { type: DataTypes.INTEGER, unique: 'part' },
    });
    const rows = Array.from({ length: 1_200 }, (_, n) => ({ code: `c${n}`, part: n, version: 1 }));
    const before = await made.bulkCreate(rows);
    let statements = 0;
    const upserted = await made.bulkCreate(rows, {
      updateOnDuplicate: ['version'] as never,
      conflictAttributes: ['code'] as never,
      returning: false,
      logging: () => statements++,
    });
    return [statements < 10, upserted.every((each, at) => idOf(each) === idOf(before[at]))];
  },
  'values that the database shows in another form': async () => {
    const made = await table('forms', {
      id: snowflakeKey({ ids }),
      at: { type: DataTypes.DATE, unique: true },
      price: { type: DataTypes.DECIMAL(9, 2), unique: true },
      name: DataTypes.STRING,
    });
    const rows = [1, 2, 3].map((n) => ({ at: new Date(n * 86_400_000), price: n, name: 'before' }));
    const before = await made.bulkCreate(rows);
    const upserted = await made
      .bulkCreate([...rows, rows[0]!, { at: new Date(0), price: 0, name: 'new' }], {
        updateOnDuplicate: ['name'] as never,
        conflictAttributes: ['at'] as never,
        returning: false,
      })
      .catch(() => []);
    const found = upserted.map((each) => before.findIndex((one) => idOf(one) === idOf(each)));
    // PostgreSQL updates no row twice in one statement.
    return dialect === 'postgres' || dialect === 'sqlite' ? true : [found.join(), await areStored(made, upserted)];
  },
  'a key in a migration': () => outcome(() => queries.createTable('migrated', { id: snowflakeKey({ ids }) } as never)),
  'a service that fails inside an include': async () => {
    let left = 0;
    const failing: KeyIds = {
      nextId: () => BigInt(failing.nextString()),
      nextString: () => {
        if (left-- <= 0) throw Object.assign(new Error('the lease is lost'), { errorCode: 'LEASE_LOST' });
        return ids.nextString();
      },
    };
    const parent = await table('failing', { id: snowflakeKey({ ids: failing }) });
    const child = await table('failed', { id: snowflakeKey({ ids: failing }), parentId: snowflakeReference() });
    parent.hasMany(child, { foreignKey: 'parentId', as: 'all' });
    const record = { all: [{}, {}] };
    const inserts = [
      () => parent.create(record, { include: ['all'] }),
      () => parent.bulkCreate([record], { include: ['all'] }),
    ];
    const results: unknown[] = [];
    for (const insert of inserts) {
      left = 2;
      results.push(await outcome(insert));
    }
    return [...results, await parent.count(), await child.count()];
  },
  'a table without a model': () =>
    outcome(async () => {
      await sequelize.query('drop table if exists loose');
      await sequelize.query('create table loose (id bigint not null primary key, name varchar(9))');
      await queries.bulkInsert('loose', [{ name: 'x' }]);
    }),
  'sync again, with alter': async () => {
    const made = await table('altered', { id: snowflakeKey({ ids }), name: DataTypes.STRING });
    const { id } = (await made.create({ name: 'a' })).get() as { id: string };
    await made.sync({ alter: true });
    return (await made.findByPk(id)) !== null && areStored(made, [await made.create()]);
  },
  'a column that rounds': async () => {
    await sequelize.query('drop table if exists rounded');
    await sequelize.query('create table rounded (id bigint not null primary key)');
    await sequelize.query('insert into rounded (id) values (9007199254740993)');
    const rounding = connect({
      dialectOptions: { supportBigNumbers: false, ...(dialect === 'mariadb' && { bigIntAsNumber: true }) },
    });
    const made = rounding.define('rounded', { id: snowflakeKey({ ids }) }, { tableName: 'rounded', timestamps: false });
    const found = await outcome(async () => idOf(await made.findOne()));
    await rounding.close();
    return found;
  },
  'numbers that cannot hold the ID': async () => {
    let last = 2n ** 55n;
    const large: KeyIds = { nextId: () => ++last, nextString: () => String(++last) };
    const made = await table('numbers', { id: snowflakeKey({ ids: large, as: 'number' }), name: DataTypes.STRING });
    return [await outcome(() => made.create()), await outcome(() => made.bulkCreate([{}])), await made.count()];
  },
  'no service, one that is opened later, one that is closed': async () => {
    const made = await table('laters', { id: snowflakeKey({ service: 'later' }), name: DataTypes.STRING });
    const insert = (): Promise<unknown> => outcome(async () => areStored(made, [await made.create()]));
    const none = [
      await insert(),
      await outcome(() => made.bulkCreate([{}])),
      await outcome(() => queries.bulkInsert('laters', [{ name: 'x' }])),
    ];
    const service = await openIdService({ dbConfig, name: 'later' });
    const open = await insert();
    await service.close();
    return [...none, open, await insert(), await made.count()];
  },
  'a transaction of its own context': async () => {
    Sequelize.useCLS(createNamespace('transactions'));
    try {
      const value = code();
      const { id } = await Order.create({ code: value });
      return await sequelize.transaction(async () => {
        const [upserted] = await Order.upsert({ code: value, customer: 'within' });
        const found = await sequelize.query(`select count(*) as n from orders where customer_name = 'within'`, {
          type: QueryTypes.SELECT,
          transaction: null,
        });
        const inside = Number((found[0] as { n: number }).n);
        return [upserted.id === id, isMysql || dialect === 'postgres' ? inside : 0];
      });
    } finally {
      delete (Sequelize as unknown as { _cls?: unknown })._cls;
    }
  },
  'references and keys of other forms': async () => {
    const parent = await table('parents', { id: snowflakeKey({ ids, prefix: 'parent' }) });
    const child = await table('children', {
      id: snowflakeKey({ ids, as: 'bigint' }),
      parentId: snowflakeReference({ prefix: 'parent' }),
    });
    parent.hasMany(child, { foreignKey: 'parentId', as: 'children' });
    child.belongsTo(parent, { foreignKey: 'parentId', as: 'parent' });
    const made = await parent.create({ children: [{}, {}] }, { include: ['children'] });
    const found = await parent.findOne({ include: [{ association: 'children', separate: true }] });
    const joined = await child.findAll({ include: ['parent'], order: ['id'] });
    const nested = await parent
      .findAll({ include: ['children'], where: { '$children.parentId$': idOf(made) } })
      .catch(codeOf);
    return {
      separate: (found!.get('children') as Model[]).map((each) => typeof each.get('id')),
      joined: joined.every(
        (each) => idOf(each.get('parent') as Model) === idOf(made) && each.get('parentId') === idOf(made),
      ),
      nested: Array.isArray(nested) ? nested.length : 'refused',
    };
  },
  'foreign keys that hold typed IDs of another form': () => {
    const define = (name: string, attributes: object): ModelStatic<Model> =>
      sequelize.define(name, attributes as never, { tableName: `${name}_rows`, timestamps: false });
    const user = define('ownUser', { id: snowflakeKey({ ids, prefix: 'user' }) });
    const team = define('ownTeam', { id: snowflakeKey({ ids, prefix: 'team' }) });
    const plain = define('ownPlain', { id: snowflakeKey({ ids }) });
    const declared = (work: () => unknown): unknown => {
      try {
        work();
        return 'declared';
      } catch (error) {
        return `${(error as { errorCode?: string }).errorCode}: ${/= (.*?):/.exec((error as Error).message)?.[1]}`;
      }
    };
    const to = (owner: ModelStatic<Model>, type: object, name: string): unknown => {
      const note = define(name, { ownerId: { field: 'owner_id', ...type } });
      return declared(() => owner.hasMany(note, { foreignKey: 'ownerId', constraints: false }));
    };
    const both = define('ownBoth', { text: DataTypes.STRING });
    const link = define('ownLink', { tagId: snowflakeReference(), ownedId: snowflakeReference({ prefix: 'team' }) });
    const owned = { foreignKey: 'ownedId', otherKey: 'tagId', constraints: false };
    return Promise.resolve([
      to(user, { type: DataTypes.BIGINT }, 'ownInteger'),
      to(user, snowflakeReference(), 'ownDecimal'),
      to(user, snowflakeReference({ prefix: 'user' }), 'ownTyped'),
      to(plain, snowflakeReference({ prefix: 'user' }), 'ownOther'),
      to(plain, { type: DataTypes.BIGINT }, 'ownOrdinary'),
      declared(() => user.hasMany(both, { foreignKey: 'ownerId', constraints: false, scope: { text: 'user' } })),
      declared(() => both.belongsTo(team, { foreignKey: 'ownerId', constraints: false })),
      declared(() => team.belongsToMany(plain, { ...owned, through: link })),
      declared(() => user.belongsToMany(plain, { ...owned, through: link })),
    ]);
  },
  'a composite key of typed IDs': async () => {
    const user = await table('typedUsers', { id: snowflakeKey({ ids, prefix: 'user' }) });
    const team = await table('typedTeams', { id: snowflakeKey({ ids, prefix: 'team' }) });
    const member = await table('typedMembers', {
      userId: { ...snowflakeReference({ prefix: 'user' }), primaryKey: true },
      teamId: { ...snowflakeReference({ prefix: 'team' }), primaryKey: true },
      role: DataTypes.STRING,
    });
    user.belongsToMany(team, { through: member, foreignKey: 'userId', otherKey: 'teamId', as: 'teams' });
    user.hasMany(member, { foreignKey: 'userId', as: 'members' });
    const [userId, teamId] = [idOf(await user.create()), idOf(await team.create())];
    await member.bulkCreate([{ userId, teamId, role: 'a' }]);
    await member.upsert({ userId, teamId, role: 'b' });
    const [found] = await user.findAll({ include: ['teams', { association: 'members', separate: true }] });
    const one = await member.findOne({ where: { userId, teamId } });
    await one!.update({ role: 'c' });
    return [
      (found!.get('teams') as Model[]).map(idOf).includes(teamId),
      plain(found!.get('members') as Model[], 'role'),
      plain(await member.findAll(), 'role'),
      await member.destroy({ where: { userId, teamId } }),
    ];
  },
};

const results: Record<string, unknown> = {};
const only = process.argv[3];
for (const [name, check] of Object.entries(checks)) {
  if (only === undefined || name.includes(only)) results[name] = await outcome(check);
}
await shop.close();
console.log(JSON.stringify(results));
