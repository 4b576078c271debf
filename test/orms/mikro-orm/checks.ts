/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return -- the types of the two versions differ */
/** What once went wrong, in the form of the key in which it did. Prints what each of them came to. */
import { defineEntity } from '@mikro-orm/core';
import { openIdService } from '@raindrop/node';
import { type KeyOptions, snowflakeKey } from '@raindrop/orm/mikro-orm';
import { connect, createSchema, defineShop, LAYOUT, SILENT, version } from './shop.js';

interface Shop {
  readonly em: any;
  readonly Order: any;
  readonly Pair: any;
}

let count = 0;
const row = (): { code: string; customer: string } => ({ code: `c${++count}`, customer: 'a' });

/** @param isSmall whether a driver may give the IDs as numbers */
async function inShop(
  options: KeyOptions,
  isSmall: boolean,
  work: (shop: Shop) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const layout = isSmall ? { layout: 'number' as const } : LAYOUT;
  const service = await openIdService({
    ...layout,
    workerIdAssigner: 'static',
    workerId: 3,
    restartWaitMs: false,
    logger: SILENT,
  });
  const { Order, entities } = defineShop(options);
  const Pair: any = defineEntity({
    name: 'Pair',
    tableName: 'pairs',
    properties: (p: any) => ({ a: snowflakeKey(options), b: snowflakeKey(options), name: p.string() }),
  } as never);
  const orm = await connect([...entities, Pair]);
  try {
    await createSchema(orm);
    return await work({ em: orm.em.fork(), Order, Pair });
  } finally {
    await orm.close(true);
    await service.close();
  }
}

async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    const { errorCode, why, constructor } = error as {
      errorCode?: string;
      why?: string;
      constructor: { name: string };
    };
    return errorCode === undefined ? constructor.name : `${errorCode} ${why}`;
  }
}

/** Orders and tags, joined by an entity with a key of ours. @param persist whether the collections write its rows */
function tagged(persist: boolean): { Post: any; Label: any; Labelling: any; entities: any[] } {
  const Post: any = defineEntity({
    name: 'Post',
    tableName: 'posts',
    properties: (p: any) => ({
      id: snowflakeKey(),
      labels: () => {
        const labels = p.manyToMany(Label).pivotEntity(() => Labelling);
        return persist ? labels : labels.persist(false);
      },
    }),
  } as never);
  const Label: any = defineEntity({
    name: 'Label',
    tableName: 'labels',
    properties: (p: any) => ({ id: snowflakeKey(), name: p.string() }),
  } as never);
  const Labelling: any = defineEntity({
    name: 'Labelling',
    tableName: 'labellings',
    properties: (p: any) => ({
      id: snowflakeKey(),
      post: () => p.manyToOne(Post),
      label: () => p.manyToOne(Label),
    }),
  } as never);
  return { Post, Label, Labelling, entities: [Post, Label, Labelling] };
}

async function inLabels(persist: boolean): Promise<unknown> {
  const service = await openIdService({
    ...LAYOUT,
    workerIdAssigner: 'static',
    workerId: 4,
    restartWaitMs: false,
    logger: SILENT,
  });
  const { Post, Label, Labelling, entities } = tagged(persist);
  let orm: any;
  let schema: any;
  try {
    orm = await connect(entities);
    schema = version === 6 ? orm.getSchemaGenerator() : orm.schema;
    await (version === 6 ? schema.createSchema() : schema.create());
    const em = orm.em.fork();
    const post = em.create(Post, {});
    const label = em.create(Label, { name: 'x' });
    if (persist) post.labels.add(label);
    else em.create(Labelling, { post, label });
    await em.persist([post, label]).flush();
    const [read] = await orm.em.fork().find(Post, {}, { populate: ['labels'] });
    return read.labels.getItems().map(({ name }: any) => name);
  } catch (error) {
    const { errorCode, message } = error as { errorCode?: string; message: string };
    return errorCode === undefined ? message : `${errorCode}: ${/posts\.labels = .*/.exec(message)?.[0]}`;
  } finally {
    await (version === 6 ? schema?.dropSchema() : schema?.drop());
    await orm?.close(true);
    await service.close();
  }
}

const found = {
  'a pivot entity with a key of ours, written by a collection': await inLabels(true),
  'a pivot entity with a key of ours, created': await inLabels(false),
  ...(await inShop({}, true, async ({ em, Order, Pair }) => ({
    'a flush that fails, and is repeated': await outcome(async () => {
      const taken = row();
      await em.insert(Order, taken);
      const orders = [em.create(Order, row()), em.create(Order, { ...taken })];
      const failed = await outcome(() => em.persist(orders).flush());
      const ids = orders.map(({ id }) => id);
      orders[1].code = row().code;
      await em.persist(orders).flush();
      const rows = await em.fork().find(Order, { id: { $in: ids } });
      return [failed, rows.length, orders.every(({ id }, at) => id === ids[at])];
    }),
    'two keys of ours': await outcome(async () => {
      const [a, b] = await em.insert(Pair, { name: 'x' });
      const pairs = await em.insertMany(Pair, [{ name: 'y' }, { name: 'z' }]);
      const stored = await em.fork().find(Pair, {});
      const isStored = ([one, other]: string[]): boolean =>
        stored.some((pair: any) => pair.a === one && pair.b === other);
      return [[a, b], ...pairs].every(isStored) && new Set([a, b, ...pairs.flat()]).size === 6;
    }),
    'upsertMany(), what the entities hold': await outcome(async () => {
      const rows = [row(), row()];
      await em.insert(Order, rows[0]);
      const merged = await em.fork().upsertMany(Order, rows);
      const ignored = await em.fork().upsertMany(Order, rows, { onConflictAction: 'ignore' });
      return [...merged, ...ignored].map(({ id }) => typeof id);
    }),
    'upsert, no value of onConflictFields': await outcome(async () => {
      await em.insert(Order, row());
      const options = { onConflictFields: ['code'], onConflictAction: 'ignore' };
      return (await em.fork().upsert(Order, { customer: 'b' }, options)).customer;
    }),
    'upsertMany(), nothing is written of what is refused': await outcome(async () => {
      const one = row();
      const refused = await outcome(() => em.fork().upsertMany(Order, [one, { ...row(), id: '78' }]));
      return [refused, await em.fork().count(Order, { code: one.code })];
    }),
    'query builder, one of two rows with its key': await outcome(async () => {
      const [one, other] = [row(), row()];
      await em
        .qb(Order)
        .insert([{ id: '77', ...one }, other])
        .execute();
      const codes = { $in: [one.code, other.code] };
      const ids: string[] = (await em.fork().find(Order, { code: codes })).map(({ id }: any) => id);
      return [ids.includes('77'), ids.every((id) => /^77$|^\d{12,}$/.test(id)), ids.length];
    }),
    'query builder, insertId': await outcome(async () => {
      const [one, ...others] = [row(), row(), row()];
      const { insertId } = await em.qb(Order).insert(one).execute();
      const several = await em.qb(Order).insert(others).execute('run');
      return [(await em.fork().findOneOrFail(Order, insertId)).code === one.code, typeof several.insertId];
    }),
    'query builder, on conflict nothing': await outcome(async () => {
      const one = row();
      for (let insert = 0; insert < 2; insert++) await em.qb(Order).insert(one).onConflict('code').ignore().execute();
      return (await em.fork().find(Order, { code: one.code })).map(({ id }: any) => /^\d{12,}$/.test(id));
    }),
  }))),
  ...(await inShop({ as: 'bigint' }, false, async ({ em, Order }) => ({
    'a page of orders with their items': await outcome(async () => {
      for (let order = 0; order < 9; order++) em.create(Order, { ...row(), items: [{ name: 'x' }, { name: 'y' }] });
      await em.flush();
      const seen: number[] = [];
      for (const limit of [1, 2, 3, 4]) {
        const page = { populate: ['items'], strategy: 'joined', limit, orderBy: { id: 'desc' } };
        seen.push((await em.fork().find(Order, {}, page)).length);
      }
      const byItems = await em.fork().find(Order, { items: { name: 'x' } }, { limit: 4, orderBy: { id: 'asc' } });
      return [...seen, byItems.length];
    }),
  }))),
  ...(await inShop({}, false, async ({ em, Order }) => ({
    'a page of orders with their items, keys as text': await outcome(async () => {
      for (let order = 0; order < 9; order++) em.create(Order, { ...row(), items: [{ name: 'x' }, { name: 'y' }] });
      await em.flush();
      const page = { populate: ['items'], strategy: 'joined', limit: 3, orderBy: { id: 'desc' } };
      return (await em.fork().find(Order, {}, page)).length;
    }),
  }))),
  ...(version === 6
    ? {}
    : await inShop({ prefix: 'order' }, false, async ({ em, Order }) => ({
        'Kysely with hooks, typed IDs not converted': await outcome(async () => {
          const one = row();
          await em.getKysely({ processOnCreateHooks: true }).insertInto('orders').values(one).execute();
          const { id } = await em.fork().findOneOrFail(Order, { code: one.code });
          return (await em.fork().findOneOrFail(Order, id)).code === one.code;
        }),
        'Kysely, a merge into an alias': await outcome(() => {
          const merge = em.getKysely().mergeInto('orders as o').using('items', 'o.id', 'items.order_id');
          return merge.whenNotMatched().thenInsertValues(row()).execute();
        }),
      }))),
};
console.log(JSON.stringify(found));
