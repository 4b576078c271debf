/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return -- the types of the two versions differ */
/**
 * Every way of writing and reading keys through MikroORM 6 or 7 on one database, in each form of the key. Prints for each
 * path and form what became of all ways that belong to it: `filled`, `exact`, `refused: CODE`, `wrong: WHY`, or `-` where
 * this version has none.
 */
import {
  databaseDefault,
  forms,
  type OpenShop,
  openShop,
  type Row,
  textOf,
  type,
  type Upsert,
  upserts,
  version,
} from './shop.js';

/** Inserts rows whose codes or customers begin with the tag. Gives back the IDs as the application sees them, in order. */
type Write = (em: any, tag: string) => Promise<readonly unknown[] | void>;
/** Gives back the IDs that came. Only the row with the code `largest` is read, and its item. */
type Read = (em: any, id: unknown) => Promise<readonly unknown[]>;

function same(left: unknown, right: unknown): void {
  if (left !== right) throw new Error(`wrong: ${String(left)} is a ${typeof left}, ${String(right)} a ${typeof right}`);
}

function writesOf({ form, orm, Order, ids, issued, shown, stored }: OpenShop): Record<string, Record<string, Write>> {
  /** The row that an upsert finds. */
  async function existing(em: any, code: string): Promise<unknown> {
    const order = em.create(Order, { code, customer: 'before' });
    await em.persist(order).flush();
    em.clear();
    return order.id;
  }
  return {
    'write single': {
      'em.create, flush': async (em, tag) => {
        const order = em.create(Order, { code: tag, customer: 'a' });
        await em.persist(order).flush();
        return [order.id];
      },
      'em.create with id: null': async (em, tag) => {
        const order = em.create(Order, { id: null, code: tag, customer: 'a' });
        await em.persist(order).flush();
        return [order.id];
      },
      'em.insert(data)': async (em, tag) => {
        const data = { code: `${tag}1`, customer: 'a' };
        const first = await em.insert(Order, data);
        return [first, await em.insert(Order, Object.assign(data, { code: `${tag}2` }))];
      },
      'em.insert(entity)': async (em, tag) => {
        const order = em.create(Order, { code: tag, customer: 'a' });
        const id = await em.insert(order);
        same(order.id, id);
        return [id];
      },
      'repository.insert, insertMany': async (em, tag) => {
        const repository = em.getRepository(Order);
        const first = await repository.insert({ code: `${tag}1`, customer: 'a' });
        return [first, ...(await repository.insertMany([{ code: `${tag}2`, customer: 'a' }]))];
      },
      fork: async (em, tag) => [await em.fork().fork().insert(Order, { code: tag, customer: 'a' })],
    },
    'write bulk': {
      'em.create, many': async (em, tag) => {
        const orders = [1, 2, 3].map((n) => em.create(Order, { code: `${tag}${n}`, customer: 'a' }));
        await em.persist(orders).flush();
        return orders.map((order) => order.id);
      },
      'em.insertMany(data), more than a tick holds': (em, tag) => {
        const data = Array.from({ length: form === 'number' ? 17_000 : 100 }, (_, n) => ({
          code: `${tag}${n + 10_000}`,
          customer: 'a',
        }));
        return em.insertMany(Order, data);
      },
      'em.insertMany(entities)': (em, tag) =>
        em.insertMany([1, 2, 3].map((n) => em.create(Order, { code: `${tag}${n}`, customer: 'a' }))),
    },
    'write returning': {
      'em.insertMany(data)': (em, tag) =>
        em.insertMany(
          Order,
          [1, 2, 3].map((n) => ({ code: `${tag}${n}`, customer: 'a' })),
        ),
    },
    'write nested': {
      cascade: async (em, tag) => {
        const order = em.create(Order, { code: tag, customer: 'a', items: [{ name: 'x' }, { name: 'y' }] });
        await em.persist(order).flush();
        const rows = await orm.em
          .getConnection()
          .execute(`select ${textOf('order_id')} as o, ${textOf('id')} as id from items`);
        same(rows.length, 2);
        for (const row of rows) {
          same(shown(row.o), order.id);
          same(issued.has(row.id), true);
        }
        return [order.id];
      },
    },
    'write upsert': {
      'em.upsert(data), new': async (em, tag) => [(await em.upsert(Order, { code: tag, customer: 'a' })).id],
      'em.upsert(data), existing': async (em, tag) => {
        const id = await existing(em, tag);
        same((await em.upsert(Order, { code: tag, customer: 'after' })).id, id);
        same((await stored(tag))[0]!.customer, 'after');
        return [id];
      },
      'em.upsert(entity), new': async (em, tag) => [
        (await em.upsert(em.create(Order, { code: tag, customer: 'a' }, { persist: false }))).id,
      ],
      'em.upsert(entity), existing': async (em, tag) => {
        const id = await existing(em, tag);
        const order = em.create(Order, { code: tag, customer: 'after' }, { persist: false });
        same((await em.upsert(order)).id, id);
        same(order.id, id);
        same((await stored(tag))[0]!.customer, 'after');
        return [id];
      },
      'em.upsert(data) with key, existing': async (em, tag) => {
        const id = await existing(em, tag);
        same((await em.upsert(Order, { id, code: tag, customer: 'after' })).id, id);
        same((await stored(tag))[0]!.customer, 'after');
        return [id];
      },
      'em.upsert(data), ignore': async (em, tag) => {
        const id = await existing(em, tag);
        same((await em.upsert(Order, { code: tag, customer: 'after' }, { onConflictAction: 'ignore' })).id, id);
        same((await stored(tag))[0]!.customer, 'before');
        return [id];
      },
      'em.upsertMany(data)': async (em, tag) => {
        const id = await existing(em, `${tag}2`);
        const rows = await em.upsertMany(
          Order,
          [1, 2, 3].map((n) => ({ code: `${tag}${n}`, customer: 'after' })),
        );
        same(rows[1].id, id);
        same((await stored(tag))[1]!.customer, 'after');
        return rows.map((row: Row) => row.id);
      },
      'em.upsertMany(entities)': async (em, tag) => {
        const id = await existing(em, `${tag}2`);
        const rows = await em.upsertMany(
          [1, 2, 3].map((n) => em.create(Order, { code: `${tag}${n}`, customer: 'after' }, { persist: false })),
        );
        same(rows[1].id, id);
        return rows.map((row: Row) => row.id);
      },
      'em.upsertMany(data), ignore': async (em, tag) => {
        const id = await existing(em, `${tag}2`);
        const data = [1, 2, 3].map((n) => ({ code: `${tag}${n}`, customer: 'after' }));
        const rows = await em.upsertMany(Order, data, { onConflictAction: 'ignore' });
        same(rows[1].id, id);
        same((await stored(tag))[1]!.customer, 'before');
        return rows.map((row: Row) => row.id);
      },
      'em.upsertMany(data), 700 rows': async (em, tag) => {
        const data = Array.from({ length: 700 }, (_, n) => ({ code: `${tag}${n + 1000}`, customer: 'a' }));
        await em.insertMany(Order, data.slice(600));
        return (await em.upsertMany(Order, data)).map((row: Row) => row.id);
      },
      'em.upsert(data), loaded before, flush': async (em, tag) => {
        const id = await existing(em, tag);
        const loaded = await em.findOneOrFail(Order, id);
        const order = await em.upsert(Order, { code: tag, customer: 'after' });
        same(order.id, id);
        same(loaded.id, id);
        await em.flush();
        return [id];
      },
      'em.create, em.upsert(entity), flush': async (em, tag) => {
        const id = await existing(em, tag);
        const order = em.create(Order, { code: tag, customer: 'after' });
        same(await em.upsert(order), order);
        await em.flush();
        same(order.id, id);
        same((await stored(tag))[0]!.customer, 'after');
        return [id];
      },
      "qb.insert, merge(['customer'])": async (em, tag) => {
        const id = await existing(em, tag);
        await em
          .qb(Order)
          .insert({ id: shown(ids.nextString()), code: tag, customer: 'after' })
          .onConflict('code')
          .merge(['customer'])
          .execute();
        same((await stored(tag))[0]!.customer, 'after');
        return [id];
      },
    },
    'write upsert of the key': {
      'em.upsert, onConflictMergeFields with the key': async (em, tag) => {
        await em.upsert(
          Order,
          { code: tag, customer: 'a' },
          { onConflictFields: ['code'], onConflictMergeFields: ['id', 'customer'] },
        );
      },
      'em.upsertMany, some with a key': async (em, tag) => {
        await em.upsertMany(Order, [
          { id: shown(ids.nextString()), code: `${tag}1`, customer: 'a' },
          { code: `${tag}2`, customer: 'a' },
        ]);
      },
      'qb.insert, merge()': async (em, tag) => {
        await em
          .qb(Order)
          .insert({ id: shown(ids.nextString()), code: tag, customer: 'a' })
          .onConflict('code')
          .merge()
          .execute();
      },
      ...(version === 6
        ? {}
        : {
            'em.getKysely() on conflict, key updated': async (em: any, tag: string) => {
              const kysely = em.getKysely();
              const insert = kysely.insertInto('orders').values({ id: ids.nextString(), code: tag, customer: 'a' });
              await (
                type === 'mariadb'
                  ? insert.onDuplicateKeyUpdate({ id: '1' })
                  : insert.onConflict((on: any) => on.column('code').doUpdateSet({ id: '1' }))
              ).execute();
            },
          }),
    },
    'write upsert without a unique value': {
      'em.upsert(data), nothing unique': async (em, tag) => [(await em.upsert(Order, { customer: tag })).id],
      'em.upsertMany(data), nothing unique': async (em, tag) => {
        const rows = await em.upsertMany(
          Order,
          [1, 2, 3].map((n) => ({ customer: `${tag}${n}` })),
        );
        const byCustomer = (await stored(tag)).sort((a, b) => (a.customer < b.customer ? -1 : 1));
        rows.forEach((row: Row, n: number) => same(row.id, shown(byCustomer[n]!.id)));
        return (await stored(tag)).map((row) => shown(row.id));
      },
    },
    'write query builder': {
      'qb.insert': async (em, tag) => {
        await em.qb(Order).insert({ code: tag, customer: 'a' }).execute();
        return (await stored(tag)).map((row) => shown(row.id));
      },
      'qb.clone().insert': async (em, tag) => {
        const rows = [1, 2].map((n) => ({ code: `${tag}${n}`, customer: 'a' }));
        await em.qb(Order).clone().insert(rows).execute();
        return (await stored(tag)).map((row) => shown(row.id));
      },
    },
    'write em.getKysely()': {
      ...(version === 6
        ? {}
        : {
            'em.getKysely() insert': async (em: any, tag: string) => {
              await em.getKysely().insertInto('orders').values({ code: tag, customer: 'a' }).execute();
            },
          }),
    },
    'write query builder, with the key': {
      'qb.insert with a key': async (em, tag) => {
        const id = shown(ids.nextString());
        await em.qb(Order).insert({ id, code: tag, customer: 'a' }).execute();
        return [id];
      },
    },
    'write em.getKysely() with hooks': {
      ...(version === 6
        ? {}
        : {
            'em.getKysely({ processOnCreateHooks }) insert': async (em: any, tag: string) => {
              const rows = [1, 2].map((n) => ({ code: `${tag}${n}`, customer: 'a' }));
              await em
                .getKysely({ processOnCreateHooks: true, convertValues: true })
                .insertInto('orders')
                .values(rows)
                .execute();
              return (await stored(tag)).map((row) => shown(row.id));
            },
            'em.getKysely({ processOnCreateHooks }) in a transaction': async (em: any, tag: string) => {
              await em.transactional(async (inner: any) => {
                const kysely = inner.getKysely({ processOnCreateHooks: true, convertValues: true });
                await kysely.insertInto('orders').values({ code: tag, customer: 'a' }).execute();
                same((await inner.find(Order, { code: tag })).length, 1);
              });
              return (await stored(tag)).map((row) => shown(row.id));
            },
          }),
    },
    'write prepared': {
      ...(version === 6
        ? {}
        : {
            'em.getKysely({ processOnCreateHooks }) compiled, executed twice': async (em: any, tag: string) => {
              const kysely = em.getKysely({ processOnCreateHooks: true, convertValues: true });
              const compiled = kysely.insertInto('orders').values({ customer: tag }).compile();
              await kysely.executeQuery(compiled);
              await kysely.executeQuery(compiled);
            },
          }),
    },
    'write transaction': {
      transaction: async (em, tag) => {
        const seen: unknown[] = [];
        await em.transactional(async (inner: any) => {
          const order = inner.create(Order, { code: `${tag}1`, customer: 'a' });
          await inner.persist(order).flush();
          seen.push(order.id, await inner.insert(Order, { code: `${tag}2`, customer: 'a' }));
        });
        const undone = em.transactional(async (inner: any) => {
          await inner.insert(Order, { code: `${tag}3`, customer: 'a' });
          throw new Error('undone');
        });
        await undone.catch((error: Error) => same(error.message, 'undone'));
        return seen;
      },
    },
    'write from select': {
      ...(version === 6
        ? {}
        : {
            'qb.insertFrom': async (em: any, tag: string) => {
              await existing(em, tag);
              await em
                .qb(Order)
                .insertFrom(em.qb(Order).select(['customer']).where({ code: tag }))
                .execute();
            },
            'em.clone': async (em: any, tag: string) => {
              const id = await existing(em, tag);
              await em.clone(Order, id, { code: `${tag}2` });
            },
          }),
    },
    'write replace': {
      ...(version === 6
        ? {}
        : {
            'em.getKysely({ processOnCreateHooks }) replaceInto': async (em: any, tag: string) => {
              await em
                .getKysely({ processOnCreateHooks: true })
                .replaceInto('orders')
                .values({ code: tag, customer: 'a' })
                .execute();
            },
          }),
    },
    'write raw': {
      // With `databaseDefault` it is refused all the same: see defaults.ts.
      ...(databaseDefault
        ? {}
        : {
            'driver.nativeInsert': async (em: any, tag: string) =>
              void (await em.getDriver().nativeInsert(version === 6 ? 'Order' : Order, { code: tag, customer: 'a' })),
          }),
      'em.execute(sql)': async (em, tag) =>
        void (await em.execute(`insert into orders (code, customer) values (?, 'a')`, [tag])),
      ...(version === 6
        ? {
            'em.getKnex() insert': async (em: any, tag: string) =>
              void (await em.getKnex()('orders').insert({ code: tag, customer: 'a' })),
          }
        : {}),
    },
  };
}

function readsOf({ form, Order, Item, shown }: OpenShop): Record<string, Record<string, Read>> {
  /** What a driver delivers past the ORM: text or number, whose digits are compared. */
  const raw = (id: unknown): unknown => shown(typeof id === 'number' ? BigInt(id).toString() : String(id));
  const read = (orders: any[]): unknown[] =>
    orders.flatMap((order) => [order.id, ...order.items.getItems().flatMap((item: any) => [item.id, item.order.id])]);
  return {
    'read find': {
      find: async (em) => (await em.find(Order, { code: 'largest' })).map((one: Row) => one.id),
      'findOne by the key': async (em, id) => [(await em.findOneOrFail(Order, id)).id],
      'find, key in': async (em, id) => (await em.find(Order, { id: { $in: [id] } })).map((one: Row) => one.id),
      'qb.getResult': async (em, id) => (await em.qb(Order).where({ id }).getResult()).map((one: Row) => one.id),
      'JSON.stringify(entity)': async (em) => {
        const [order] = await em.find(Order, { code: 'largest' });
        const { id } = JSON.parse(JSON.stringify(order)) as { id: unknown };
        return [form === 'bigint' ? BigInt(id as string) : id];
      },
    },
    'read cursor': {
      findByCursor: async (em) => {
        const page = (after?: string): Promise<any> => {
          const options = { first: 1, after, orderBy: { id: 'desc' } };
          return version === 6 ? em.findByCursor(Order, {}, options) : em.findByCursor(Order, options);
        };
        const first = await page();
        const second = await page(first.endCursor);
        same(second.items[0].id === first.items[0].id, false);
        return [first.items[0].id];
      },
    },
    'read relation': {
      'find, reference': async (em) =>
        (await em.find(Item, { name: 'largest' })).flatMap((one: any) => [one.id, one.order.id]),
      'populate, select-in': async (em) =>
        read(await em.find(Order, { code: 'largest' }, { populate: ['items'], strategy: 'select-in' })),
      'JSON.stringify(reference)': async (em) => {
        const [item] = await em.find(Item, { name: 'largest' });
        const { order } = JSON.parse(JSON.stringify(item)) as { order: unknown };
        return [form === 'bigint' ? BigInt(order as string) : order];
      },
    },
    'read join': {
      'populate, joined': async (em) =>
        read(await em.find(Order, { code: 'largest' }, { populate: ['items'], strategy: 'joined' })),
      'find by the relation': async (em, id) =>
        read(await em.find(Order, { items: { order: id } }, { populate: ['items'] })),
      'qb, joined': async (em, id) =>
        read(await em.qb(Order, 'o').leftJoinAndSelect('o.items', 'i').where({ 'o.id': id }).getResult()),
    },
    'read raw': {
      'qb.execute': async (em, id) =>
        (await em.qb(Order).select(['id']).where({ id }).execute()).map((one: Row) => raw(one.id)),
      'em.execute(sql)': async (em) =>
        (await em.execute(`select id from orders where code = 'largest'`)).map((one: Row) => raw(one.id)),
      ...(version === 6
        ? {}
        : {
            'em.getKysely() select': async (em: any) =>
              (await em.getKysely().selectFrom('orders').select('id').where('code', '=', 'largest').execute()).map(
                (one: Row) => raw(one.id),
              ),
          }),
    },
    'read stream': {
      ...(version === 6
        ? {}
        : {
            'em.stream': async (em: any) => {
              const seen: unknown[] = [];
              for await (const one of em.stream(Order, { where: { code: 'largest' } })) seen.push(one.id);
              return seen;
            },
          }),
    },
  };
}

async function write(shop: OpenShop, path: string, work: Write, tag: string): Promise<string> {
  const ids = await work(shop.orm.em.fork(), tag);
  const rows = await shop.stored(tag);
  if (ids === undefined) {
    const isByDatabase = rows.length === 1 && !shop.issued.has(rows[0]!.id);
    if (databaseDefault && path === 'write raw' && isByDatabase) return 'by the database';
    return `wrong: not refused, ${rows.length} rows`;
  }
  const foreign = rows.find((row) => !shop.issued.has(row.id));
  if (foreign !== undefined) return `wrong: ${foreign.id} is none of ours`;
  const stored = rows.map((row) => shop.shown(row.id));
  const isSame = stored.length === ids.length && stored.every((id, at) => id === ids[at]);
  return isSame && stored.length > 0 ? 'filled' : `wrong: ${show(ids)} given back, ${show(stored)} stored`;
}

async function read(shop: OpenShop, work: Read): Promise<string> {
  const largest = shop.shown(shop.largest);
  const ids = await work(shop.orm.em.fork(), largest);
  return ids.length > 0 && ids.every((id) => id === largest) ? 'exact' : `wrong: ${show(ids)}`;
}

/** Upserts a row, and gives back the key that the ORM tells, where it does. */
type UpsertWay = (em: any, row: Row) => Promise<unknown>;

/** The ways of an upsert that this version has. */
function upsertsOf({ orm, Order, ids, shown }: OpenShop, upsert: Upsert): Record<string, UpsertWay> {
  const { statement, by, sets } = upsert;
  const onConflictFields = [by];
  const told = { onConflictFields, ...(sets === 'new key' && { onConflictMergeFields: ['id', 'customer'] }) };
  const third = shown(ids.nextString());
  const conflict = (em: any, row: Row): any => em.qb(Order).insert(row).onConflict(by);
  const inKysely = (name: string, insert: (kysely: any, row: Row) => any): Record<string, UpsertWay> => ({
    ...(version !== 6 && {
      [name]: async (em, row) => void (await insert(em.getKysely(), { ...row, id: digits(row.id) }).execute()),
    }),
  });
  const kyselyUpsert = (id?: (row: Row, eb: any) => unknown): Record<string, UpsertWay> =>
    inKysely('em.getKysely()', (kysely, row) => {
      const into = kysely.insertInto('orders');
      const rows = [{ ...row, id: digits(ids.nextString()), code: `${String(row.code)}2` }, row];
      const source = kysely.selectFrom('orders').where('code', '=', row.code);
      const selected = source.select((eb: any) => [eb.val(row.id).as('id'), 'code', 'customer']);
      const insert =
        statement === 'query'
          ? into.columns(['id', 'code', 'customer']).expression(selected)
          : into.values(statement === 'bulk' ? rows : row);
      const set = (eb: any): Row => ({ customer: 'after', ...(id !== undefined && { id: id(row, eb) }) });
      return type === 'mariadb'
        ? insert.onDuplicateKeyUpdate(set)
        : insert.onConflict((on: any) => on.column(by).doUpdateSet(set));
    });
  const newKey = (_: Row, eb: any): unknown => (type === 'mariadb' ? eb.fn('values', ['id']) : eb.ref('excluded.id'));

  if (statement === 'merge') return {};
  if (statement === 'replace') {
    if (type === 'postgres') return {};
    return inKysely('em.getKysely() replaceInto', (kysely, row) => kysely.replaceInto('orders').values(row));
  }
  if (statement === 'query') return sets === 'others' ? kyselyUpsert() : kyselyUpsert(newKey);
  if (statement === 'bulk') {
    const rowsOf = (row: Row): Row[] =>
      [1, 2].map((n) => ({ ...row, id: shown(ids.nextString()), code: `${String(row.code)}${n}` }));
    const many = {
      'em.upsertMany(data)': async (em: any, row: Row) =>
        (await em.upsertMany(Order, [...rowsOf(row), row], told))[2].id,
    };
    return { ...many, ...(sets === 'others' ? kyselyUpsert() : kyselyUpsert(newKey)) };
  }
  const upserting: Record<string, UpsertWay> = {
    'em.upsert(data)': async (em, row) => (await em.upsert(Order, row, told)).id,
    'em.upsert(entity)': async (em, row) => {
      const order = em.create(Order, row, { persist: false });
      same(await em.upsert(order, undefined, told), order);
      return order.id;
    },
  };
  if (sets === 'value' || sets === 'third value') {
    const id = (row: Row): unknown => (sets === 'value' ? row.id : third);
    return {
      'qb.merge({ id })': async (em, row) =>
        void (await conflict(em, row)
          .merge({ id: id(row), customer: 'after' })
          .execute()),
      ...kyselyUpsert((row) => digits(id(row))),
    };
  }
  if (sets === 'others') {
    return {
      ...upserting,
      ...(by === 'id' && { 'em.upsert(data), by default': async (em, row) => (await em.upsert(Order, row)).id }),
      // MariaDB would find the row by its code, and MikroORM look for the key: mikro-orm#6781.
      ...(by === 'code' && {
        'em.upsert(data), all but the key': async (em, row) =>
          (await em.upsert(Order, row, { onConflictFields, onConflictExcludeFields: ['id'] })).id,
        'em.upsert(data), loaded before, flush': async (em, row) => {
          const loaded = await em.findOneOrFail(Order, { code: row.code });
          const order = await em.upsert(Order, row, told);
          await em.flush();
          same(loaded.id, order.id);
          return order.id;
        },
      }),
      "qb.merge(['customer'])": async (em, row) => void (await conflict(em, row).merge(['customer']).execute()),
      ...kyselyUpsert(),
    };
  }
  return {
    ...upserting,
    'em.upsert(data), all fields': async (em, row) =>
      (await em.upsert(Order, row, { onConflictFields, onConflictMergeFields: ['*'] })).id,
    'qb.merge()': async (em, row) => void (await conflict(em, row).merge().execute()),
    "qb.merge(['id', 'customer'])": async (em, row) =>
      void (await conflict(em, row).merge(['id', 'customer']).execute()),
    ...kyselyUpsert(newKey),
  };

  /** A key as `em.getKysely()` writes it, which converts no values. */
  function digits(id: unknown): string {
    const { customType } = orm.getMetadata().get(version === 6 ? 'Order' : Order).properties.id;
    return String(customType.convertToDatabaseValue(id));
  }
}

/** What became of a row with the same code as the one that is upserted. */
async function upserted(shop: OpenShop, upsert: Upsert, way: UpsertWay, tag: string): Promise<string> {
  const { orm, Order, ids, shown, stored } = shop;
  const key = ids.nextString();
  await orm.em.fork().insert(Order, { id: shown(key), code: tag, customer: 'before' });
  const id = upsert.key === 'same' ? shown(key) : shown(ids.nextString());
  let answer = 'kept';
  let told: unknown;
  try {
    told = await way(orm.em.fork(), { id, code: tag, customer: 'after' });
  } catch (error) {
    answer = codeOf(error);
  }
  const [row, ...others] = (await stored(tag)).filter(({ code }) => code === tag);
  same(others.length, 0);
  same(row?.id, key);
  same(row!.customer, answer === 'kept' ? 'after' : 'before');
  if (answer !== 'kept' || told === undefined || told === shown(key)) return answer;
  // MariaDB finds the row by its code, MikroORM looks for the key.
  if (type === 'mariadb' && upsert.by === 'id') return 'kept';
  return `wrong: ${show([told])} was told`;
}

function show(ids: readonly unknown[]): string {
  return ids.map((id) => `${typeof id} ${String(id)}`).join(', ') || 'none';
}

function codeOf(error: unknown): string {
  const { errorCode, why, message } = error as { errorCode?: string; why?: string; message: string };
  if (errorCode !== undefined) return `refused: ${errorCode}${why === undefined ? '' : ` ${why}`}`;
  if (message.startsWith('wrong: ')) return message;
  if (/not.null|default value/i.test(message)) return 'refused: NOT NULL';
  if (/unique|duplicate/i.test(message)) return 'refused: duplicate key';
  if (message.includes('serialize a BigInt')) return 'refused: JSON.stringify takes no bigint';
  return `wrong: ${message}`;
}

/** What became of all ways of a path: they are alike, or something is wrong. */
async function outcome(ways: Record<string, (tag: string) => Promise<string>>, path: string): Promise<string> {
  const results: [string, string][] = [];
  for (const [name, way] of Object.entries(ways)) {
    results.push([name, await way(`${path} ${results.length}.`).catch(codeOf)]);
  }
  const odd = results.find(([, result]) => result.startsWith('wrong') || result !== results[0]![1]);
  if (odd === undefined) return results[0]?.[1] ?? '-';
  return `wrong: ${odd[0]} was ${odd[1]}`;
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
  for (const each of upserts) {
    await note(
      `write ${each.row}`,
      mapped(upsertsOf(shop, each), (way) => (tag: string) => upserted(shop, each, way, tag)),
    );
  }
  const id = shop.shown(shop.largest);
  await shop.orm.em.fork().insert(shop.Order, { id, code: 'largest', customer: 'Zoe' });
  await shop.orm.em.fork().insert(shop.Item, { id, name: 'largest', order: id });
  for (const [path, ways] of Object.entries(readsOf(shop))) {
    await note(
      path,
      mapped(ways, (work) => () => read(shop, work)),
    );
  }
  await shop.close();
}
console.log(JSON.stringify(cells));
