/** Keys with `databaseDefault`: what `sync()` makes of them, who fills their rows, and what the check says. */
import { DataTypes, literal, Model, QueryTypes, type Sequelize } from 'sequelize';
import { checkPrecision, type KeyOptions, snowflakeKey, snowflakeReference } from '@raindrop/orm/sequelize';
import { connect, dialect } from './shop.js';

let last = 2n ** 60n;
const ids = { nextId: () => last++, nextString: () => String(last++) };
const found: Record<string, unknown> = {};
const opened: Sequelize[] = [];
const sent: string[] = [];

/** Parcels with a key and a second one, and their labels. */
function open(options: KeyOptions): Sequelize {
  const sequelize = connect({ logging: (text) => void sent.push(text) });
  opened.push(sequelize);
  const common = { sequelize, timestamps: false };
  const second = { ...snowflakeKey(options), primaryKey: false };
  const Parcel = class extends Model {};
  Parcel.init({ id: snowflakeKey(options), second, title: DataTypes.STRING }, { ...common, modelName: 'parcel' });
  const Label = class extends Model {};
  Label.init({ id: snowflakeKey(options), parcelId: snowflakeReference() }, { ...common, modelName: 'label' });
  Parcel.hasMany(Label);
  Label.belongsTo(Parcel);
  return sequelize;
}

async function failure(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'none';
  } catch (error) {
    const { errorCode, message } = error as Error & { readonly errorCode?: string };
    return `${errorCode}: ${message.replaceAll(/\s+/g, ' ')}`;
  }
}

async function defaultsIn(sequelize: Sequelize): Promise<Record<string, string | null>> {
  const rows = await sequelize.query<{ place: string; value: string | null }>(
    `select table_name || '.' || column_name as place, column_default as value from information_schema.columns
      where table_schema = 'public' and data_type = 'bigint' and table_name in ('parcels', 'labels') order by 1`,
    { type: QueryTypes.SELECT },
  );
  return Object.fromEntries(rows.map(({ place, value }) => [place, value]));
}

if (dialect !== 'postgres') {
  const sequelize = open({ ids, databaseDefault: true });
  found['refused by sync()'] = await failure(() => sequelize.sync());
  found['refused by create()'] = await failure(() => sequelize.models['parcel']!.create({ title: 'x' }));
  found['statements'] = sent;
} else {
  const sequelize = open({ ids, databaseDefault: true });
  await sequelize.sync();
  found['made'] = await defaultsIn(sequelize);
  const { parcel: Parcel } = sequelize.models as { parcel: typeof Model & (new () => Model) };
  sent.length = 0;
  await Parcel.create({ title: 'created' });
  await Parcel.build({ title: 'built' }).save();
  await Parcel.bulkCreate([{ title: 'bulk' }, { title: 'too' }]);
  const queries = sequelize.getQueryInterface();
  await queries.bulkInsert('parcels', [{ title: 'queried' }]);
  await queries.bulkInsert({ tableName: 'parcels', schema: 'public' }, [{ title: 'queried, by its schema' }]);
  found['a table without columns'] = await failure(() => queries.createTable('empty_one', undefined as never));
  found['statements that ask the database'] = sent.filter((text) => /raindrop_id|values \(DEFAULT/i.test(text));
  await sequelize.query(`insert into parcels (title) values ('raw')`);
  const rows = await Parcel.findAll({ order: ['title'], raw: true });
  found['rows'] = (rows as unknown as { id: string; second: string; title: string }[]).map(({ id, second, title }) => [
    title,
    ...[id, second].map((each) => (each.length > 10 ? 'of the process' : 'of the database')),
  ]);
  for (const name of ['id', 'second']) {
    const leaveOut = (_: Model, options: { fields?: string[] }): void =>
      void (options.fields = options.fields!.filter((each) => each !== name));
    Parcel.addHook('beforeCreate', 'leaveOut', leaveOut as never);
    found[`a hook that takes the key out of the fields: ${name}`] = [
      await failure(() => Parcel.create({ title: 'hook' })),
      await failure(() => Parcel.create({ title: 'hook' }, { returning: false })),
      await failure(() => Parcel.bulkCreate([{ title: 'hook' }], { individualHooks: true })),
    ];
    Parcel.removeHook('beforeCreate', 'leaveOut');
  }
  found['rows of these'] = await Parcel.count({ where: { title: 'hook' } });
  await sequelize.sync({ alter: true });
  found['altered'] = await defaultsIn(sequelize);
  found['check'] = (await checkPrecision(sequelize)).warnings;

  const without = open({ ids });
  found['check of a default that is not declared'] = (await checkPrecision(without)).warnings.length;
  await without.sync({ alter: true });
  // Sequelize leaves the primary key of a table as it is.
  found['altered without it'] = await defaultsIn(without);
  await without.sync({ force: true });
  found['made without it'] = await defaultsIn(without);
  found['check of columns without a default'] = (await checkPrecision(sequelize)).warnings;
  await open({ ids, databaseDefault: true }).sync({ alter: true });
  found['altered with it'] = await defaultsIn(without);
  await open({ ids, databaseDefault: 'Shop.nextId' }).sync({ force: true });
  found['another function'] = (await defaultsIn(without))['parcels.id'];
  const own = connect({});
  opened.push(own);
  const id = { ...snowflakeKey({ ids }), defaultValue: literal('raindrop_id()') as never };
  const Own = own.define('own', { id, title: DataTypes.STRING }, { timestamps: false });
  await Own.sync();
  await Own.create({ title: 'created' });
  const [row] = await Own.findAll({ raw: true });
  found['control: a default of the application itself'] = (row as unknown as { id: string }).id.length <= 10;
  found['no name'] = await failure(() => snowflakeKey({ databaseDefault: 'next_id()' }));
}
for (const each of opened) await each.close();
console.log(JSON.stringify(found));
