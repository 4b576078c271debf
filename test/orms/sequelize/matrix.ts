/**
 * Every way of writing and reading keys through Sequelize on one database, in each form of the key. Prints for each path
 * and form what became of all ways that belong to it: `filled`, `exact`, `refused: CODE`, `wrong: WHY`, or `-`.
 */
import { Op, QueryTypes, type Transaction } from 'sequelize';
import {
  codeOf,
  Customer,
  dialect,
  forms,
  given,
  type Id,
  isMysql,
  Item,
  keysIn,
  type OpenShop,
  openShop,
  Order,
  Tag,
  Tagging,
  type Upsert,
} from './shop.js';

/** Inserts orders whose codes or customers begin with the tag. Gives back their IDs as the application sees them, in order. */
type Write = (tag: string) => Promise<readonly unknown[] | void>;
/** Gives back the IDs that came. Only the order with the code `largest` is read, and its item. */
type Read = (id: Id) => Promise<readonly unknown[] | '-'>;

function same(left: unknown, right: unknown): void {
  if (left !== right) {
    throw new Error(`wrong: ${typeof left} ${String(left)} for ${typeof right} ${String(right)}`);
  }
}

/** Upserts an order, and gives back the key that its instance has, where there is one. */
type UpsertWay = (row: UpsertedRow) => Promise<unknown>;

type UpsertedRow = { readonly id: Id; readonly code: string; readonly customer: string };

/** The ways of an upsert that Sequelize has. */
function upsertsOf({ sequelize, ids, shown }: OpenShop, upsert: Upsert): Record<string, UpsertWay> {
  const { statement, by, sets } = upsert;
  if (statement !== 'single' && statement !== 'bulk') return {};
  const queries = sequelize.getQueryInterface();
  const updateOnDuplicate = (sets === 'others' ? ['customer'] : ['id', 'customer']) as never;
  const options = { updateOnDuplicate, conflictAttributes: [by] as never };
  const others = (code: string): UpsertedRow[] =>
    statement === 'bulk' ? [{ id: shown(ids.nextString()), code: `${code} too`, customer: 'Eve' }] : [];
  const bulk: Record<string, UpsertWay> = {
    bulkCreate: async (row) => (await Order.bulkCreate([...others(row.code), row], options)).at(-1)!.id,
    'bulkCreate without hooks, nothing returned': async (row) => {
      const told = { ...options, hooks: false, returning: false };
      return (await Order.bulkCreate([...others(row.code), row], told)).at(-1)!.id;
    },
  };
  const upserting: UpsertWay = async (row) =>
    (await Order.upsert({ ...row }, isMysql ? {} : { conflictFields: [by] as never }))[0].id;
  if (statement === 'bulk') return bulk;
  if (sets === 'others') {
    const byDefault: UpsertWay = async (row) => (await Order.upsert({ ...row }))[0].id;
    return { ...bulk, upsert: upserting, ...(upsert.key === 'same' && { 'upsert by default': byDefault }) };
  }
  if (sets !== 'new key') return {};
  const columns = ({ id, code, customer }: UpsertedRow): object => ({ id, code, customer_name: customer });
  const raw = { updateOnDuplicate: ['id', 'customer_name'], upsertKeys: [by] } as never;
  return {
    ...bulk,
    'queryInterface.bulkInsert': (row) => queries.bulkInsert('orders', [columns(row)], raw).then(() => undefined),
    'queryInterface.insert': (row) => queries.insert(null as never, 'orders', columns(row), raw).then(() => undefined),
    'queryInterface.upsert': async (row) => {
      const updates = { id: row.id, customer_name: row.customer };
      const told = { model: Order, ...(!isMysql && { conflictFields: [by] }) };
      await queries.upsert('orders', columns(row), updates, {}, told as never);
    },
  };
}

/** Upserts an order of which one is there with the same code: what became of the one that is there. */
async function upserted(shop: OpenShop, upsert: Upsert, way: UpsertWay, code: string): Promise<string> {
  const { ids, shown, stored } = shop;
  const kept = shown(ids.nextString());
  await Order.create({ id: kept, code, customer: 'before' });
  const id = upsert.key === 'same' ? kept : shown(ids.nextString());
  let answer = 'kept';
  let told: unknown;
  try {
    told = await way({ id, code, customer: 'after' });
  } catch (error) {
    answer = codeOf(error);
  }
  const [order, ...others] = (await stored(code)).filter((each) => each.code === code);
  same(others.length, 0);
  same(shown(order!.id), kept);
  same(order!.customer, answer === 'kept' ? 'after' : 'before');
  if (answer === 'kept' && told !== undefined) same(told, kept);
  return answer;
}

/** The order with this code. */
async function existing(code: string): Promise<Id> {
  return (await Order.create({ code, customer: 'before' })).id;
}

function writesOf(shop: OpenShop): Record<string, Record<string, Write>> {
  const { form, sequelize, ids, shown, stored } = shop;
  const queries = sequelize.getQueryInterface();
  const own = (): Id => shown(ids.nextString());
  const three = (tag: string): { code: string; customer: string }[] =>
    [1, 2, 3].map((n) => ({ code: `${tag}${n}`, customer: 'after' }));
  const idsOf = (orders: readonly Order[]): Id[] => orders.map(({ id }) => id);
  const idsIn = async (tag: string): Promise<Id[]> => (await stored(tag)).map(({ id }) => shown(id));
  return {
    'write single': {
      create: async (code) => [(await Order.create({ code, customer: 'a' })).id],
      'create with undefined': async (code) => [(await Order.create({ id: undefined, code })).id],
      'create with fields': async (code) => [(await Order.create({ code, customer: 'a' }, { fields: ['code'] })).id],
      'create without hooks': async (code) => [(await Order.create({ code }, { hooks: false, validate: false })).id],
      'create of raw values': async (code) => [(await Order.create({ code }, { raw: true })).id],
      'build, save': async (code) => {
        const order = Order.build({ code });
        const { id } = order;
        await order.save();
        same(order.id, id);
        order.customer = 'b';
        await order.save();
        same((await stored(code))[0]!.customer, 'b');
        return [order.id];
      },
      'save with fields': async (code) => [(await Order.build({ code, customer: 'a' }).save({ fields: ['code'] })).id],
      'save again after an error': async (tag) => {
        await existing(`${tag}1`);
        const order = Order.build({ code: `${tag}1` });
        same(await order.save().catch(codeOf), 'refused: duplicate key');
        order.code = `${tag}2`;
        await order.save();
        return [(await stored(tag)).map(({ id }) => shown(id))[0], order.id];
      },
      'the same values twice': async (tag) => {
        const values = { code: `${tag}1` };
        const first = await Order.create(values);
        return [first.id, (await Order.create(Object.assign(values, { code: `${tag}2` }))).id];
      },
      'fields that leave a given key out': async (code) => {
        const values = { id: own(), code };
        const { id } = await Order.create(values, { fields: ['code'] });
        same(id === values.id, false);
        return [id];
      },
      'create of a scope': async (code) => [(await Order.unscoped().create({ code })).id],
    },
    'write single, null': {
      create: async (code) => [(await Order.create({ id: null, code })).id],
      'create without hooks': async (code) => [(await Order.create({ id: null, code }, { hooks: false })).id],
      'build, null, save': async (code) => {
        const order = Order.build({ code });
        order.set('id', null, { raw: true });
        return [(await order.save()).id];
      },
    },
    'write bulk': {
      bulkCreate: async (tag) => idsOf(await Order.bulkCreate(three(tag))),
      'bulkCreate, some with a key': async (tag) => {
        const [first, second, third] = three(tag);
        const id = own();
        const orders = await Order.bulkCreate([first!, { ...second!, id }, { ...third!, id: null }]);
        same(orders[1]!.id, id);
        return idsOf(orders);
      },
      'bulkCreate, the same records twice': async (tag) => {
        const records = [{ customer: `${tag} a` }, { customer: `${tag} b` }];
        const first = await Order.bulkCreate(records);
        const second = await Order.bulkCreate(records);
        const all = [...idsOf(first), ...idsOf(second)];
        same(new Set(all).size, 4);
        return (await idsIn(tag)).filter((id) => all.includes(id));
      },
      'bulkCreate, individual hooks': async (tag) =>
        idsOf(await Order.bulkCreate(three(tag), { individualHooks: true })),
      'bulkCreate, validated': async (tag) => idsOf(await Order.bulkCreate(three(tag), { validate: true })),
      'bulkCreate, more than a tick holds': async (tag) => {
        const count = form === 'number' ? 17_000 : 100;
        const records = Array.from({ length: count }, (_, n) => ({ code: `${tag}${n + 10_000}` }));
        return idsOf(await Order.bulkCreate(records));
      },
    },
    'write bulk, with fields': {
      bulkCreate: async (tag) => idsOf(await Order.bulkCreate(three(tag), { fields: ['code'] })),
      'bulkCreate without hooks': async (tag) =>
        idsOf(await Order.bulkCreate(three(tag), { fields: ['code'], hooks: false })),
      'bulkCreate, a key in a record': async (tag) => {
        const id = own();
        const orders = await Order.bulkCreate([{ id, code: tag }], { fields: ['code'] });
        same(orders[0]!.id === id, false);
        return idsOf(orders);
      },
    },
    'write bulk, ignored rows': {
      ...Object.fromEntries(
        [{}, { hooks: false }, { returning: true }, { individualHooks: false, validate: true }].map((options) => [
          `bulkCreate ${JSON.stringify(options)}`,
          async (tag: string) => {
            const id = await existing(`${tag}2`);
            const orders = await Order.bulkCreate(three(tag), { ignoreDuplicates: true, ...options });
            same(orders[1]!.id, null);
            same(orders[1]!.isNewRecord, true);
            same(orders[1]!.code, `${tag}2`);
            return [orders[0]!.id, id, orders[2]!.id];
          },
        ]),
      ),
    },
    'write ignored row': {
      create: async (code) => {
        await existing(code);
        await Order.create({ code }, { ignoreDuplicates: true });
      },
    },
    'write upsert': {
      'upsert, new': async (code) => [(await Order.upsert({ code, customer: 'a' }))[0].id],
      'upsert, existing': async (code) => {
        const id = await existing(code);
        const [order] = await Order.upsert({ code, customer: 'after' });
        same((await stored(code))[0]!.customer, 'after');
        same(order.id, id);
        return [id];
      },
      'upsert, existing, id: null': async (code) => {
        const id = await existing(code);
        same((await Order.upsert({ id: null, code, customer: 'after' }))[0].id, id);
        return [id];
      },
      'upsert, existing, nothing returned': async (code) => {
        const id = await existing(code);
        same((await Order.upsert({ code, customer: 'after' }, { returning: false, hooks: false }))[0].id, id);
        return [id];
      },
      'upsert, existing, nothing to update': async (code) => {
        const id = await existing(code);
        same(
          (await Order.upsert({ code, customer: 'after' }, { fields: [], conflictFields: ['code'] as never }))[0].id,
          id,
        );
        same((await stored(code))[0]!.customer, 'before');
        return [id];
      },
      'upsert, by the key': async (code) => {
        const id = await existing(code);
        same((await Order.upsert({ id, customer: 'after' }))[0].id, id);
        same((await stored(code))[0]!.customer, 'after');
        return [id];
      },
      'upsert in a transaction': async (code) => {
        const id = await existing(code);
        const [order] = await sequelize.transaction((transaction) =>
          Order.upsert({ code, customer: 'after' }, { transaction }),
        );
        same(order.id, id);
        return [id];
      },
      'bulkCreate, updateOnDuplicate': async (tag) => {
        const id = await existing(`${tag}2`);
        const orders = await Order.bulkCreate(three(tag), { updateOnDuplicate: ['customer'] });
        same(orders[1]!.id, id);
        same((await stored(tag))[1]!.customer, 'after');
        return idsOf(orders);
      },
      'bulkCreate, updateOnDuplicate, nothing returned': async (tag) => {
        const id = await existing(`${tag}2`);
        const options = { updateOnDuplicate: ['customer' as const], returning: false, hooks: false };
        const orders = await Order.bulkCreate(three(tag), options);
        same(orders[1]!.id, id);
        return idsOf(orders);
      },
      'bulkCreate, updateOnDuplicate of all attributes': async (tag) => {
        const id = await existing(`${tag}2`);
        const updateOnDuplicate = Object.keys(Order.getAttributes()) as never;
        const orders = await Order.bulkCreate(three(tag), { updateOnDuplicate });
        same(orders[1]!.id, id);
        return idsOf(orders);
      },
      findOrCreate: async (tag) => {
        const find = (): Promise<[Order, boolean]> =>
          Order.findOrCreate({ where: { code: tag }, defaults: { customer: 'a' } });
        const [order, isNew] = await find();
        const [again, isNewAgain] = await find();
        same(`${isNew} ${isNewAgain}`, 'true false');
        same(again.id, order.id);
        return [order.id];
      },
      'findOrCreate, twenty at once': async (tag) => {
        // SQLite has one writer.
        const count = dialect === 'postgres' ? 20 : 1;
        const all = await Promise.all(
          Array.from({ length: count }, () =>
            Order.findOrCreate({ where: { code: tag }, defaults: { customer: 'a' } }),
          ),
        );
        const found = new Set(all.map(([{ id }]) => id));
        same(found.size, 1);
        return [...found];
      },
      findCreateFind: async (tag) => {
        const find = (): Promise<[Order, boolean]> => Order.findCreateFind({ where: { code: tag } });
        const [order] = await find();
        same((await find())[0].id, order.id);
        return [order.id];
      },
      'findOrBuild, save': async (tag) => {
        const [order] = await Order.findOrBuild({ where: { code: tag } });
        return [(await order.save()).id];
      },
    },
    'write upsert of the key': {
      'upsert with another key': async (code) => {
        const id = await existing(code);
        const [order] = await Order.upsert(
          { id: own(), code, customer: 'after' },
          isMysql ? {} : { conflictFields: ['code'] as never },
        );
        same((await stored(code))[0]!.customer, 'after');
        same(order.id, id);
        return [id];
      },
      'bulkCreate with other keys, updateOnDuplicate': async (code) => {
        const id = await existing(code);
        const updateOnDuplicate = ['id', 'customer'] as never;
        const [order] = await Order.bulkCreate([{ id: own(), code, customer: 'after' }], { updateOnDuplicate });
        same((await stored(code))[0]!.customer, 'after');
        same(order!.id, id);
        return [id];
      },
    },
    'write upsert that updates only the key': {
      'bulkCreate, updateOnDuplicate': async (code) => {
        await Order.bulkCreate([{ code }], { updateOnDuplicate: ['id'] as never });
      },
      'queryInterface.bulkInsert': async (code) => {
        await queries.bulkInsert('orders', [{ code }], {
          updateOnDuplicate: ['id'],
          upsertKeys: ['code'],
        } as never);
      },
    },
    'write upsert without a unique value': {
      upsert: async (tag) => {
        await Order.upsert({ customer: tag });
      },
      'upsert of a model without unique attributes': async (tag) => {
        await Tag.upsert({ name: tag });
      },
      'bulkCreate of a model without unique attributes': async (tag) => {
        await Tag.bulkCreate([{ name: tag }], { updateOnDuplicate: ['name'] as never });
      },
    },
    'write transaction': {
      transaction: async (tag) => {
        const id = await sequelize.transaction(async (transaction) => {
          const { id } = await Order.create({ code: `${tag}1` }, { transaction });
          await Order.bulkCreate([{ code: `${tag}2` }], { transaction, fields: ['code'] });
          return id;
        });
        const undone = sequelize.transaction(async (transaction: Transaction) => {
          await Order.create({ code: `${tag}3` }, { transaction });
          throw new Error('undone');
        });
        await undone.catch((error: Error) => same(error.message, 'undone'));
        const all = await idsIn(tag);
        same(all[0], id);
        return all;
      },
    },
    'write nested': {
      'create with items': async (code) => {
        const order = await Order.create({ code, items: [{ name: 'x' }, { name: 'y' }] }, { include: ['items'] });
        const items = await Item.findAll({ where: { orderId: order.id } });
        same(items.length, 2);
        for (const item of items) {
          same(item.orderId, order.id);
        }
        return [order.id];
      },
      'create with its customer': async (code) => {
        const order = await Order.create({ code, buyer: { name: 'Ada' } }, { include: ['buyer'] });
        const buyer = await Customer.findByPk(order.customerId as string, { rejectOnEmpty: true });
        same(buyer.id, order.customerId);
        return [order.id];
      },
      'create with tags': async (code) => {
        const order = await Order.create({ code, tags: [{ name: 'x' }] }, { include: ['tags'] });
        same((await Tagging.findAll({ where: { OrderId: order.id } })).length, 1);
        return [order.id];
      },
      'bulkCreate with items': async (tag) => {
        const records = three(tag).map((one) => ({ ...one, items: [{ name: one.code }] }));
        const orders = await Order.bulkCreate(records, { include: ['items'] });
        for (const order of orders) same((await Item.findAll({ where: { orderId: order.id } })).length, 1);
        return idsOf(orders);
      },
      'createItem, addTags': async (code) => {
        const order = await Order.create({ code });
        const more = order as unknown as Record<'createItem' | 'addTags' | 'setTags', (one: unknown) => Promise<Item>>;
        same((await more.createItem({ name: 'x' })).orderId, order.id);
        const tags = [await Tag.create({ name: code }), await Tag.create({ name: code })];
        for (let n = 0; n < 2; n++) await more.addTags(tags);
        const taggings = (): Promise<Tagging[]> => Tagging.findAll({ where: { OrderId: order.id }, order: ['id'] });
        const before = await taggings();
        same(before.length, 2);
        await more.setTags([tags[0], await Tag.create({ name: code })]);
        const after = await taggings();
        same(after.length, 2);
        same(after[0]!.id, before[0]!.id);
        return [order.id];
      },
      'setItems, removeItem': async (code) => {
        const order = await Order.create({ code, items: [{ name: 'x' }, { name: 'y' }] }, { include: ['items'] });
        const more = order as unknown as Record<'setItems' | 'removeItem', (one: unknown) => Promise<void>>;
        const [x, y] = order.items as [Item, Item];
        await more.setItems([x, await Item.create({ name: 'z' })]);
        await more.removeItem(x);
        const names = (await Item.findAll({ where: { orderId: order.id } })).map(({ name }) => name);
        same(`${names.join()} ${String((await y.reload()).orderId)}`, 'z null');
        return [order.id];
      },
    },
    'write nested bulk, of parents that may already exist': {
      'bulkCreate, ignoreDuplicates': async (code) => {
        await Order.bulkCreate([{ code, items: [{ name: 'x' }] }], { include: ['items'], ignoreDuplicates: true });
      },
      ...(dialect !== 'postgres' && {
        'bulkCreate, updateOnDuplicate': async (code: string) => {
          const options = { include: ['items'], updateOnDuplicate: ['customer' as const] };
          await Order.bulkCreate([{ code, items: [{ name: 'x' }] }], options);
        },
      }),
    },
    'write queryInterface': {
      bulkInsert: async (tag) => {
        const rows = [1, 2].map((n) => ({ code: `${tag}${n}` }));
        await queries.bulkInsert('orders', rows);
        same('id' in rows[0]!, false);
        return idsIn(tag);
      },
      'bulkInsert, some with a key': async (tag) => {
        await queries.bulkInsert('orders', [
          { code: `${tag}1` },
          { code: `${tag}2`, id: own() },
          { code: `${tag}3`, id: null },
        ]);
        return idsIn(tag);
      },
      'bulkInsert, a table of the schema': async (tag) => {
        await queries.bulkInsert({ tableName: 'orders' }, [{ code: tag }]);
        return idsIn(tag);
      },
      'bulkInsert, updateOnDuplicate': async (code) => {
        const id = await existing(code);
        const options = { updateOnDuplicate: ['id', 'customer_name'], upsertKeys: ['code'] };
        await queries.bulkInsert('orders', [{ code, customer_name: 'after' }], options as never);
        same((await stored(code))[0]!.customer, 'after');
        return [id];
      },
      insert: async (tag) => {
        await queries.insert(null, 'orders', { code: tag });
        return idsIn(tag);
      },
    },
    'write an invalid key': {
      create: async (code) => {
        await Order.create({ id: '12abc', code });
      },
      'create, a list': async (code) => {
        await Order.create({ id: ['1), (2'], code });
      },
      'bulkCreate, an object': async (code) => {
        await Order.bulkCreate([{ id: { toString: () => '1' }, code }]);
      },
      'bulkInsert, a text': async (code) => {
        await queries.bulkInsert('orders', [{ id: '12abc', code }]);
      },
    },
    'write destroy': {
      'destroy, one and many': async (tag) => {
        const orders = await Order.bulkCreate(three(tag));
        await orders[0]!.destroy();
        await Order.destroy({ where: { id: orders[1]!.id } });
        return [orders[2]!.id];
      },
    },
    'write raw': {
      'sequelize.query': async (tag) => {
        await sequelize.query(`insert into orders (code) values ('${tag}')`);
      },
    },
  };
}

function readsOf({ form, sequelize, shown }: OpenShop): Record<string, Record<string, Read>> {
  /** What a driver delivers past the models: text, number or bigint, whose digits are compared. */
  const raw = (id: unknown): unknown => shown(typeof id === 'number' ? BigInt(id).toString() : String(id));
  const withItems = (orders: readonly Order[]): unknown[] =>
    orders.flatMap(({ id, items }) => [id, ...items!.flatMap((item) => [item.id, item.orderId])]);
  const where = { code: 'largest' };
  return {
    'read find': {
      findAll: async () => (await Order.findAll({ where })).map(({ id }) => id),
      findByPk: async (id) => [(await Order.findByPk(id, { rejectOnEmpty: true })).id],
      'findAll, key in': async (id) => (await Order.findAll({ where: { id: [id] } })).map((one) => one.id),
      'findAll, key in a list of two': async (id) =>
        (await Order.findAll({ where: { id: { [Op.or]: [id, { [Op.in]: [id] }] } } })).map((one) => one.id),
      ...(dialect === 'postgres' && {
        'findAll, any key of': async (id: Id) =>
          (await Order.findAll({ where: { id: { [Op.any]: [id] } } })).map((one) => one.id),
      }),
      'max, min': async (id) => [
        await Order.max<Id, Order>('id', { where }),
        await Order.min<Id, Order>('id', { where: { id: { [Op.gte]: id } } }),
        (await Order.max<Id, Order>('id', { where: { code: 'none' } })) ?? id,
      ],
      'findAll, key at least': async (id) =>
        (await Order.findAll({ where: { id: { [Op.gte]: id } } })).map((one) => one.id),
      'reload, update': async (id) => {
        const order = await Order.findByPk(id, { rejectOnEmpty: true });
        await order.update({ customer: 'Zoe' });
        await order.increment('quantity');
        same(order.id, id);
        await Order.decrement('quantity', { by: 5, where: { id: [id] } });
        await order.reload();
        same(`${order.customer} ${order.quantity}`, 'Zoe -4');
        await Order.update({ customer: 'Zed' }, { where: { id } });
        same((await order.reload()).customer, 'Zed');
        return [order.id, order.get('id'), (order.get({ plain: true }) as Order).id];
      },
      'JSON.stringify': async () => {
        const order = await Order.findOne({ where, rejectOnEmpty: true });
        if (form === 'bigint') return [order.toJSON<{ id: Id }>().id];
        return [(JSON.parse(JSON.stringify(order)) as { id: Id }).id];
      },
    },
    'read cursor': {
      'findAll, key below': async (id) => {
        const [next] = await Order.findAll({ where: { id: { [Op.lt]: id } }, order: [['id', 'desc']], limit: 1 });
        same(next!.id === id, false);
        return [id];
      },
    },
    'read relation': {
      'include, separate': async () =>
        withItems(await Order.findAll({ where, include: [{ association: 'items', separate: true }] })),
      'include, separate and limited': async () =>
        withItems(await Order.findAll({ where, include: [{ association: 'items', separate: true, limit: 1 }] })),
      getItems: async () => {
        const order = await Order.findOne({ where, rejectOnEmpty: true });
        const items = await (order as unknown as { getItems(): Promise<Item[]> }).getItems();
        return items.flatMap((item) => [item.id, item.orderId]);
      },
    },
    'read join': {
      include: async () => withItems(await Order.findAll({ where, include: ['items'] })),
      'include, of the parent': async () => {
        const items = await Item.findAll({ where: { name: 'largest' }, include: ['order'] });
        return items.flatMap(({ id, orderId, order }) => [id, orderId, order!.id]);
      },
      'include, limited': async () => withItems(await Order.findAll({ where, include: ['items'], limit: 1 })),
      'where of the joined': async (id) =>
        withItems(await Order.findAll({ include: [{ association: 'items', where: { orderId: id } }] })),
    },
    'read raw': {
      'sequelize.query': async () => {
        const rows = await sequelize.query<{ id: unknown }>(`select id from orders where code = 'largest'`, {
          type: QueryTypes.SELECT,
        });
        return rows.map((row) => raw(row.id));
      },
      'findAll, raw': async () => (await Order.findAll({ where, raw: true })).map((row) => row.id),
      'findOne, raw': async () => [(await Order.findOne({ where, raw: true, rejectOnEmpty: true })).id],
      'findOne, raw, of none': async (id) => [(await Order.findOne({ where: { code: 'none' }, raw: true }))?.id ?? id],
    },
    'read JSON aggregate': {
      'sequelize.query': async () => {
        const aggregate = {
          mariadb: `json_arrayagg(id)`,
          mysql: `json_arrayagg(id)`,
          postgres: `json_agg(id)`,
          sqlite: `json_group_array(id)`,
        }[dialect];
        const [row] = await sequelize.query<{ ids: string | unknown[] }>(
          `select ${aggregate} as ids from orders where code = 'largest'`,
          { type: QueryTypes.SELECT },
        );
        const found = typeof row!.ids === 'string' ? (JSON.parse(row!.ids) as unknown[]) : row!.ids;
        if (found.some((id) => typeof id === 'number' && !Number.isSafeInteger(id))) {
          throw new Error('wrong: JSON.parse rounds, node-postgres#2385');
        }
        return found.map(raw);
      },
    },
  };
}

async function write(shop: OpenShop, path: string, work: Write, tag: string): Promise<string> {
  const before = new Map<string, number>();
  for (const model of [Customer, Item, Tag, Tagging])
    before.set(model.name, (await keysIn(shop.sequelize, model)).length);
  const ids = await work(tag);
  const rows = await shop.stored(tag);
  if (ids === undefined) {
    const isByDatabase = rows.length === 1 && !shop.issued.has(rows[0]!.id);
    if (given.databaseDefault === true && path === 'write raw' && isByDatabase) return 'by the database';
    return `wrong: not refused, ${rows.length} rows`;
  }
  for (const model of [Customer, Item, Tag, Tagging]) {
    const foreign = (await keysIn(shop.sequelize, model)).find((id) => !shop.issued.has(id));
    if (foreign !== undefined) return `wrong: ${foreign} in ${model.name} is none of ours`;
  }
  const foreign = rows.find((row) => !shop.issued.has(row.id));
  if (foreign !== undefined) return `wrong: ${foreign.id} is none of ours`;
  const stored = rows.map((row) => shop.shown(row.id));
  const isSame = stored.length === ids.length && stored.every((id, at) => id === ids[at]);
  return isSame && stored.length > 0 ? 'filled' : `wrong: ${show(ids)} given back, ${show(stored)} stored`;
}

async function read(shop: OpenShop, work: Read): Promise<string> {
  const largest = shop.shown(shop.largest);
  const ids = await work(largest);
  if (ids === '-') return ids;
  return ids.length > 0 && ids.every((id) => id === largest) ? 'exact' : `wrong: ${show(ids)}`;
}

function show(ids: readonly unknown[]): string {
  return (
    ids
      .slice(0, 5)
      .map((id) => `${typeof id} ${String(id)}`)
      .join(', ') || 'none'
  );
}

/** What became of all ways of a path: they are alike, or something is wrong. */
async function outcome(ways: Record<string, (tag: string) => Promise<string>>, path: string): Promise<string> {
  const results: [string, string][] = [];
  for (const [name, way] of Object.entries(ways)) {
    results.push([name, await way(`${path} ${results.length}.`).catch(codeOf)]);
  }
  const odd = results.find(([, result]) => result.startsWith('wrong') || result !== results[0]![1]);
  if (odd === undefined) return results[0]?.[1] ?? '-';
  return odd[1].includes('#') ? odd[1] : `wrong: ${odd[0]} was ${odd[1]}`;
}

const mapped = <A, B>(values: Record<string, A>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));

const cells: Record<string, Record<string, string>> = {};
for (const form of forms) {
  const shop = await openShop(form);
  const note = async (path: string, ways: Record<string, (tag: string) => Promise<string>>): Promise<void> => {
    (cells[path] ??= {})[form] = await outcome(ways, path);
  };
  for (const [path, ways] of Object.entries(writesOf(shop))) {
    await note(
      path,
      mapped(ways, (work) => (tag: string) => write(shop, path, work, tag)),
    );
  }
  for (const each of given.upserts ?? []) {
    await note(
      `write ${each.row}`,
      mapped(upsertsOf(shop, each), (way) => (tag: string) => upserted(shop, each, way, tag)),
    );
  }
  const id = shop.shown(shop.largest);
  // Its neighbour, which a comparison of doubles would take for it.
  await Order.create({ id: shop.shown(String(BigInt(shop.largest) - 1n)), code: 'its neighbour', customer: 'Yve' });
  await Order.create({ id, code: 'largest', customer: 'Zed' });
  await Item.create({ id, name: 'largest', orderId: id });
  for (const [path, ways] of Object.entries(readsOf(shop))) {
    await note(
      path,
      mapped(ways, (work) => () => read(shop, work)),
    );
  }
  const neighbour = await Order.findOne({ where: { code: 'its neighbour' } });
  if (neighbour?.customer !== 'Yve' || neighbour.quantity !== 0)
    throw new Error('an update of the largest key has changed its neighbour');
  await shop.close();
}
console.log(JSON.stringify(cells));
