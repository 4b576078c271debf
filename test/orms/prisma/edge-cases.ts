/** Calls that lie in wait for a wrong ID: prints what each of them came to. */
import { openIdService } from '@raindrop/node';
import type { KeyIds } from '@raindrop/orm/prisma';
import { Prisma } from './generated/postgresql-BigInt/client/client.js';
import {
  adapter,
  type Client,
  clientOf,
  connect,
  countedIds,
  dbConfig,
  fresh,
  makeTables,
  outcome,
  snowflakes,
  type as database,
} from './shop.js';

const plain = await connect('bigint');
await makeTables(plain, 'bigint');
const ids = countedIds();
const db = on(plain);
const found: Record<string, unknown> = {};

function on(client: Client, given: KeyIds = ids): Client {
  return client.$extends(snowflakes(given)) as unknown as Client;
}

/** How many of the keys are different ones. */
const distinct = (keys: readonly unknown[]): string => `${new Set(keys).size} of ${keys.length}`;
const isOurs = (key: unknown): boolean => typeof key === 'bigint' && key > 2n ** 55n;

found['other names in the database, a key of two fields, a parent that the database counts'] = await (async () => {
  const { parcels } = await db.depot.create({
    data: { parcels: { create: { number: fresh(), items: { create: [{}, { publicId: null }, {}] } } } },
    include: { parcels: { include: { items: true } } },
  });
  const [{ id, items }] = parcels as [(typeof parcels)[0]];
  await db.parcel.create({ data: { number: fresh(), depot: { create: {} } } });
  await db.parcel.update({ where: { id }, data: { items: { createMany: { data: [{}, {}] } } } });
  const keys = await plain.item.findMany({ where: { parcelId: id } });
  return [
    isOurs(id) && items.every((item) => item.parcelId === id),
    distinct(keys.flatMap((item) => [item.id, item.publicId])),
    keys.filter(({ publicId }) => publicId === null).length,
    keys.every((item) => isOurs(item.id) && (item.publicId === null || isOurs(item.publicId))),
  ];
})();

found['an upsert that repeats the key by which it finds the row'] = await (async () => {
  const { id: parcelId, items } = await db.parcel.create({
    data: { number: fresh(), items: { create: {} } },
    include: { items: true },
  });
  const [{ id }] = items as [(typeof items)[0]];
  const number = fresh();
  const { id: order } = await db.order.create({ data: { number } });
  const create = { parcelId, id };
  const sent = JSON.parse('{"toString":1}') as bigint;
  return [
    (await db.item.upsert({ where: { parcelId_id: create }, create, update: { id } })).id === id,
    (await db.order.upsert({ where: { id: order }, create: { number }, update: { id: { set: order } } })).id === order,
    await outcome(() => db.item.upsert({ where: { parcelId_id: create }, create, update: { id: id + 1n } })),
    // A condition on another row, or against this value, does not find the row by it.
    await outcome(() => db.order.upsert({ where: { number, customer: { id } }, create: { number }, update: { id } })),
    await outcome(() => db.order.upsert({ where: { number, NOT: { id } }, create: { number }, update: { id } })),
    // A body that a client sent, and the application did not check.
    await outcome(() => db.order.upsert({ where: { id: sent }, create: { number }, update: { id: sent } })),
  ];
})();

found['a field named data, of JSON that looks like relations'] = await (async () => {
  const line = await db.line.create({ data: { name: 'x', order: { create: { number: fresh() } } } });
  const written = async (update: object): Promise<unknown> => {
    await db.line.update({ where: { id: line.id }, data: { order: { update } } });
    const { data, tags } = await plain.order.findUniqueOrThrow({
      where: { id: line.orderId },
      include: { tags: true },
    });
    return [data, tags.length];
  };
  const tags = (name: string): object => ({ tags: { create: { name } } });
  return [
    await written({ data: { tags: { create: { one: 1 } } }, number: fresh() }),
    await written({ data: { two: 2 }, ...tags('two') }),
    await written({ data: [{ tags: { create: {} } }], ...tags('three') }),
    await written({ where: { number: { not: 'x' } }, data: { ...tags('four'), data: 'changed' } }),
    await written({ data: tags('five') }),
  ];
})();
found['an extension before it that runs each call twice at once'] = await (async () => {
  const doubling = on(
    plain.$extends({
      query: {
        bare: {
          createMany: ({ args, query }) => Promise.all([query(args), query(args)]) as never,
          create: ({ args, query }) => Promise.all([query(args), query(args)]) as never,
        },
      },
    }) as unknown as Client,
  );
  const skipDuplicates: object = database === 'better-sqlite3' ? {} : { skipDuplicates: true };
  return [
    await outcome(() => doubling.bare.createMany({ data: [{}, {}], ...skipDuplicates })),
    distinct(((await outcome(() => doubling.bare.create({}))) as { id: bigint }[]).map(({ id }) => id)),
  ];
})();
found['an extension before it, and one behind it, that sends a call again'] = await (async () => {
  const again = {
    query: {
      order: {
        async create({ args, query }: { args: object; query: (args: object) => Promise<unknown> }) {
          await query(args);
          return query({ ...args, data: { ...(args as { data: object }).data, number: fresh() } });
        },
      },
    },
  } as object;
  const create = (client: Client): Promise<unknown> =>
    outcome(async () => isOurs((await client.order.create({ data: { number: fresh() } })).id));
  return [
    await create(on(plain.$extends(again) as unknown as Client)),
    await create(on(plain).$extends(again) as unknown as Client),
  ];
})();
found['an extension behind it that asks for a relation, whose keys another one shows as texts'] = await (async () => {
  const text = { needs: { id: true }, compute: ({ id }: { id: bigint }): string => String(id) } as const;
  const asking = on(plain)
    .$extends({ query: { order: { create: ({ args, query }) => query({ ...args, include: { lines: true } }) } } })
    .$extends({ result: { order: { id: text }, line: { id: text } } });
  const order = await asking.order.create({ data: { number: fresh(), lines: { create: { name: 'x' } } } });
  return [typeof order.id, typeof (order as unknown as { lines: { id: unknown }[] }).lines[0]!.id];
})();
found['one promise, several times'] = await (async () => {
  const promise = db.bare.create({});
  const [first, second] = await db.$transaction([promise, promise]);
  const alone = await Promise.all([promise, promise, db.$transaction([promise]), db.$transaction([promise])]);
  return distinct([first, second, ...alone.slice(1).flat()].map(({ id }) => id));
})();

found['a client that is a class of the application'] = await (async () => {
  class Shop extends (await clientOf('bigint')) {
    constructor() {
      super({ adapter: adapter() });
      return this.$extends(snowflakes(ids)) as unknown as this;
    }
  }
  const shop = new Shop();
  const { id } = await shop.order.create({ data: { number: fresh() } });
  await shop.$disconnect();
  return isOurs(id);
})();
found['an extension that Prisma defines'] = isOurs(
  (await plain.$extends(Prisma.defineExtension(snowflakes(ids))).bare.create({})).id,
);
found['a result without the key'] = await (async () => {
  const number = fresh();
  const lines = { create: [{ name: 'one' }, { name: 'two' }] };
  const order = await db.order.create({ data: { number, lines }, omit: { id: true }, include: { lines: true } });
  const stored = await plain.order.findUniqueOrThrow({ where: { number } });
  return ['id' in order, isOurs(stored.id), order.lines.every(({ orderId }) => orderId === stored.id)];
})();
found['keys of the caller'] = await Promise.all(
  [7n, 8, '30586178364244025', 30_586_178_364_244_026, '30586178364244027x', ' 5'].map((id) =>
    outcome(async () => String((await db.order.create({ data: { id: id as bigint, number: fresh() } })).id)),
  ),
);
found['rows of the caller, used again and frozen'] = await (async () => {
  const row = Object.freeze({ name: 'x' });
  const data = Object.freeze({ number: fresh(), lines: Object.freeze({ create: row }) });
  const first = await db.order.create({ data, include: { lines: true } });
  const second = await db.order.create({ data: { ...data, number: fresh() }, include: { lines: true } });
  const tag = { create: { name: fresh() }, where: { name: fresh() } };
  const tags = { connectOrCreate: [tag] };
  await db.order.create({ data: { number: fresh(), tags } });
  tag.create.name = fresh();
  await db.order.create({ data: { number: fresh(), tags } });
  const keys = (await plain.tag.findMany()).map(({ id }) => id);
  return [distinct([...first.lines, ...second.lines].map(({ id }) => id)), distinct(keys), Object.keys(tag.create)];
})();
found['a program whose bigints become numbers in JSON'] = await (async () => {
  const prototype = BigInt.prototype as { toJSON?: (this: bigint) => number };
  prototype.toJSON = function () {
    return Number(this);
  };
  const number = fresh();
  const { id } = await db.order.create({ data: { number, lines: { create: { name: 'x' } } } });
  delete prototype.toJSON;
  const stored = await plain.order.findUniqueOrThrow({ where: { number }, include: { lines: true } });
  return [stored.id === id, stored.lines[0]!.orderId === id];
})();

found['a service that is closed in a transaction'] = await (async () => {
  const service = await openIdService({ dbConfig, name: 'closing' });
  const closing = on(plain, service);
  const before = await plain.order.count();
  return [
    await outcome(() =>
      closing.$transaction(async (own) => {
        await own.order.create({ data: { number: fresh() } });
        await service.close();
        await own.order.create({ data: { number: fresh() } });
      }),
    ),
    (await plain.order.count()) - before,
  ];
})();

found['a service that loses its lease'] = await (async () => {
  const lease = { heartbeatIntervalMs: 100, opTimeoutMs: 300, leaseMs: 1_000 };
  const silent = { log() {}, warn() {}, error() {} };
  const service = await openIdService({ dbConfig, name: 'losing', tableName: 'losing', ...lease, logger: silent });
  const impatient: KeyIds = {
    nextId: (code) => service.nextId(code),
    nextString: (code) => service.nextString(code),
    nextIdsAsync: (count, code) => service.nextIdsAsync(count, code, { timeoutMs: 300 }),
  };
  const losing = on(plain, impatient);
  const before = [await plain.order.count(), await plain.line.count()] as const;
  let written = 0;
  const insert = async (): Promise<boolean> => {
    await losing.order.create({ data: { number: fresh(), lines: { create: [{ name: 'x' }] } } });
    return ++written > 0;
  };
  await insert();
  await plain.$executeRawUnsafe('drop table losing');
  // It issues the IDs that it has reserved, and stops at the end of its lease.
  const deadline = Date.now() + 30_000;
  let refusal: unknown;
  do refusal = await outcome(insert);
  while (refusal === true && Date.now() < deadline);
  const after = [await plain.order.count(), await plain.line.count()] as const;
  await service.close();
  return [refusal, after[0] - before[0] === written, after[1] - before[1] === written];
})();
found['a transaction that waits for the next tick'] = await (async () => {
  const service = await openIdService({ dbConfig, name: 'numbers', tableName: 'numbers', layout: 'number' });
  const waiting = on(plain, service);
  const rows = 17_000;
  const before = await plain.bare.count();
  const many = waiting.bare.createMany({ data: Array.from({ length: rows }, () => ({})) });
  await waiting.$transaction([many, waiting.bare.create({}), waiting.order.create({ data: { number: fresh() } })]);
  await service.close();
  return (await plain.bare.count()) - before - rows;
})();

await plain.$disconnect();
console.log(JSON.stringify(found, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)));
