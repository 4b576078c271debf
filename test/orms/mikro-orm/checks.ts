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
  const orm = await connect(options.prefix === undefined ? [...entities, Pair] : entities);
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

/** What the ORM says of these entities when it starts. */
async function atStart(entities: any[]): Promise<string> {
  try {
    await (await connect(entities)).close(true);
    return 'started';
  } catch (error) {
    const { errorCode, message } = error as { errorCode?: string; message: string };
    return errorCode === undefined ? message : `${errorCode}: ${message.split('\n').slice(1).join('\n')}`;
  }
}

/** Users in teams, notes that belong to one of either, and a membership whose key is that of both. */
function defineTeams(options: KeyOptions): { User: any; Team: any; Note: any; Member: any } {
  const define = (name: string, properties: (p: any) => object): any =>
    defineEntity({ name, tableName: `${name.toLowerCase()}s`, properties } as never);
  const User: any = define('User', (p) => ({
    id: snowflakeKey(options),
    name: p.string(),
    teams: () => p.manyToMany(Team),
  }));
  const Team: any = define('Team', (p) => ({
    id: snowflakeKey(options),
    name: p.string(),
    users: () => p.manyToMany(User).mappedBy('teams'),
  }));
  const Note: any = define('Note', (p) => ({
    id: snowflakeKey(options),
    text: p.string(),
    owner: () => p.manyToOne([User, Team]),
  }));
  const Member: any = define('Member', (p) => ({
    user: () => p.manyToOne(User).primary(),
    team: () => p.manyToOne(Team).primary(),
  }));
  return { User, Team, Note, Member };
}

/** Two users: the first is in two teams, the second in one of them. */
async function inTeams(
  options: KeyOptions,
  names: ('User' | 'Team' | 'Note')[],
  work: (em: () => any, teams: ReturnType<typeof defineTeams>) => Promise<unknown>,
): Promise<unknown> {
  const teams = defineTeams(options);
  const service = await openIdService({
    ...(options.as === 'number' ? { layout: 'number' as const } : LAYOUT),
    workerIdAssigner: 'static',
    workerId: 5,
    restartWaitMs: false,
    logger: SILENT,
  });
  const orm = await connect(names.map((name) => teams[name]));
  const schema = version === 6 ? orm.getSchemaGenerator() : orm.schema;
  try {
    await (version === 6 ? schema.createSchema() : schema.create());
    const em = orm.em.fork();
    const [one, two] = ['one', 'two'].map((name) => em.create(teams.Team, { name }));
    em.create(teams.User, { name: 'a', teams: [one, two] });
    em.create(teams.User, { name: 'b', teams: [one] });
    await em.flush();
    return await outcome(() => work(() => orm.em.fork(), teams));
  } finally {
    await (version === 6 ? schema.dropSchema() : schema.drop());
    await orm.close(true);
    await service.close();
  }
}

/** What a dataloader finds of each user's teams and of each team's users, and what it counts. */
function byDataloader(options: KeyOptions): Promise<unknown> {
  return inTeams(options, ['User', 'Team'], async (em, { User, Team }) => {
    const collections = async (entity: any, name: string): Promise<any[]> =>
      (await em().find(entity, {}, { orderBy: { name: 1 } })).map((each: any) => each[name]);
    const options = { dataloader: true };
    const itemsOf = async (all: any[]): Promise<number[]> =>
      (await Promise.all(all.map((each) => each.loadItems(options)))).map(({ length }: any[]) => length);
    const teams = await collections(User, 'teams');
    return [
      await itemsOf(teams),
      await itemsOf(await collections(Team, 'users')),
      await Promise.all((await collections(User, 'teams')).map((each) => each.loadCount(options))),
    ];
  });
}

/** The notes that are found by their owners. */
function byOwner(options: KeyOptions): Promise<unknown> {
  return inTeams(options, ['User', 'Team', 'Note'], async (em, { User, Team, Note }) => {
    const writing = em();
    const user = await writing.findOneOrFail(User, { name: 'a' });
    const team = await writing.findOneOrFail(Team, { name: 'one' });
    writing.create(Note, { text: 'of a user', owner: user });
    writing.create(Note, { text: 'of a team', owner: team });
    await writing.flush();
    const owners = async (where: object): Promise<string[]> =>
      (await em().find(Note, where, { populate: ['owner'], orderBy: { text: 1 } })).map(({ owner }: any) => owner.name);
    return [
      await owners({ owner: user }),
      await owners({ owner: team }),
      await owners({ owner: { $in: [user, team] } }),
    ];
  });
}

const found = {
  'a pivot entity with a key of ours, written by a collection': await inLabels(true),
  'a pivot entity with a key of ours, created': await inLabels(false),
  'many-to-many by a dataloader': await byDataloader({}),
  ...(version === 6
    ? {}
    : {
        'many-to-many by a dataloader, typed IDs': await byDataloader({ prefix: 'x' }),
        'owners of two kinds': await byOwner({}),
        'owners of two kinds, bigints': await byOwner({ as: 'bigint' }),
        'owners of two kinds, numbers': await byOwner({ as: 'number' }),
        'owners of two kinds, typed IDs': await atStart(
          (({ User, Team, Note }) => [User, Team, Note])(defineTeams({ prefix: 'x' })),
        ),
        'a composite key of typed IDs': await atStart(
          (({ User, Team, Member }) => [User, Team, Member])(defineTeams({ prefix: 'x' })),
        ),
      }),
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
