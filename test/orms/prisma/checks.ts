/** What Prisma does beside the paths of the matrix, and what it does without the extension. Prints it under a name each. */
import { createRequire } from 'node:module';
import { openIdService } from '@raindrop/node';
import { checkPrecision } from '@raindrop/orm/prisma';
import {
  adapter,
  type Client,
  connect,
  countedIds,
  dbConfig,
  fresh,
  makeTables,
  outcome,
  quoted,
  type SnowflakeFields,
  snowflakes,
  type SnowflakesExtension,
  type,
} from './shop.js';

interface Key {
  tenantId: string;
  id: string;
}

const plain = await connect('bigint');
await makeTables(plain, 'bigint');
const found: Record<string, unknown> = {};
const data = (): { number: string } => ({ number: fresh() });
const opened: { $disconnect(): Promise<void> }[] = [plain];

function on<T extends Client>(client: T, given?: Parameters<typeof snowflakes>[0]): Client {
  return client.$extends(snowflakes(given)) as unknown as Client;
}

found['control: without the extension'] = await outcome(() => plain.order.create({ data: data() }));

/** As documents of Prisma and answers of users show it: an extension for all models, which sees no nested rows. */
const naive = plain.$extends({
  query: {
    $allModels: {
      create({ args, query }) {
        return query({ ...args, data: { ...args.data, id: ids.nextId() } });
      },
    },
  },
});
const ids = countedIds();
found['control: an extension that fills what is asked for'] = [
  typeof (await naive.order.create({ data: data() })).id,
  await outcome(() => naive.order.create({ data: { ...data(), lines: { create: { name: 'x' } } } })),
];

const typing = plain.$extends(
  snowflakes({ ids, models: { Typed: { id: { prefix: 'typed', code: 'typed' }, publicId: {} } } }),
);
found['a typed ID and a second key, with options for each'] = await (async () => {
  const before = ids.codes.length;
  const { id, publicId, other, uuid } = await typing.typed.create({ data: {} });
  return [/^typed_[0-9A-Za-z]{11}$/.test(id), typeof publicId, other, uuid.length, ids.codes.slice(before)];
})();
found['typed IDs in a composite key'] = await (async () => {
  const Account = { tenantId: { prefix: 'tenant' }, id: { prefix: 'account' }, code: { prefix: 'code' } };
  const shop = on(plain, { ids, models: { Account, Entry: { id: { prefix: 'entry' } } } });
  const create = { uses: 1, entries: { create: [{}, {}] } };
  const include = { entries: true } as const;
  const one = await shop.account.create({ data: create, include });
  const two = await shop.account.create({ data: { uses: 2 } });
  const [tenantId_id, other] = [one, two].map(({ tenantId, id }) => ({ tenantId, id })) as [Key, Key];
  await shop.entry.create({ data: { account: { connect: { tenantId_id: other } } } });
  await shop.entry.create({
    data: { account: { connectOrCreate: { where: { tenantId_id: other }, create: { uses: 9 } } } },
  });
  const byCode = { tenantId_code: { tenantId: one.tenantId, code: one.code } };
  const orderBy = [{ tenantId: 'asc' as const }, { id: 'asc' as const }];
  await shop.account.upsert({ where: { tenantId_id: other }, create: { uses: 9 }, update: { uses: 3 } });
  await shop.account.update({ where: { tenantId_id }, data: { uses: { increment: 1 } } });
  const [first] = one.entries;
  const moved = { account: { connect: { tenantId_id: other } } };
  const entry = await shop.entry.update({ where: { id: first!.id }, data: moved, include: { account: true } });
  return {
    unique: (await shop.account.findUnique({ where: { tenantId_id }, include }))?.entries.length,
    'another unique key': (await shop.account.findUnique({ where: byCode }))?.id === one.id,
    in: await shop.account.count({ where: { id: { in: [one.id, two.id] }, tenantId: { not: two.tenantId } } }),
    OR: await shop.account.count({ where: { OR: [tenantId_id, other] } }),
    cursor: (await shop.account.findMany({ cursor: { tenantId_id }, skip: 1, orderBy })).map(({ uses }) => uses),
    'by the relation': await shop.entry.count({ where: { account: { id: two.id } } }),
    connected: entry.account.id === two.id,
    deleted: (await shop.entry.deleteMany({ where: { accountId: two.id, tenantId: two.tenantId } })).count,
    gone: (await shop.account.delete({ where: { tenantId_id: other } })).uses,
    left: await shop.account.count(),
  };
})();
found['a typed ID in a bigint column'] = await (async () => {
  await plain.$executeRawUnsafe(quoted('drop table "Entry"'));
  await plain.$executeRawUnsafe(quoted('create table "Entry" (id bigint not null primary key)'));
  return outcome(() => checkPrecision(on(plain, { ids, models: { Entry: { id: { prefix: 'entry' } } } })));
})();
found['a model without keys'] = await outcome(() => typing.legacy.create({ data: { id: '1' } }));

/** The generator that was usual before, whose clients are CommonJS, loaded as such. */
if (type === 'better-sqlite3') {
  const require = createRequire(import.meta.url);
  const { PrismaClient } = require('../generated/former') as { PrismaClient: new (options: object) => Client };
  const former = new PrismaClient({ adapter: adapter() });
  opened.push(former);
  found['prisma-client-js'] = typeof (await on(former, ids).customer.create({ data: { email: fresh() } })).id;
}

found['no service'] = await outcome(() => on(plain).order.create({ data: data() }));
const service = await openIdService({ dbConfig, name: 'later' });
const later = on(plain, { service: 'later' });
found['a service that is opened later, then closed'] = [
  typeof (await later.order.create({ data: data() })).id,
  await outcome(() => service.close().then(() => later.order.create({ data: data() }))),
];
found['a function that returns the service'] = typeof (await on(plain, () => ids).order.create({ data: data() })).id;

/** Throws at the second ID. */
const failing = { ...countedIds() };
const [nextId, limit] = [failing.nextId, { left: 1 }];
failing.nextId = (code) => {
  if (limit.left-- === 0) throw Object.assign(new Error('none left'), { code: 'NONE_LEFT' });
  return nextId(code);
};
const refusing = on(plain, failing);
const count = await plain.order.count();
found['a transaction of several calls, of which one gets no ID'] = [
  await outcome(() => refusing.$transaction([1, 2, 3].map(() => refusing.order.create({ data: data() })))),
  (limit.left = 1) &&
    (await outcome(() =>
      refusing.$transaction(async (own) => {
        for (let row = 0; row < 3; row++) await own.order.create({ data: data() });
      }),
    )),
  (limit.left = 1) &&
    (await outcome(() => refusing.order.create({ data: { ...data(), lines: { create: { name: 'x' } } } }))),
  (await plain.order.count()) - count,
];

const line = Object.freeze({ name: 'twice' });
const json = { lines: { create: {} } };
found['rows that are one object, and JSON that looks like relations'] = await (async () => {
  const lines = Object.freeze({ create: Object.freeze([line, line]) as { name: string }[] });
  const create = { data: { ...data(), lines, data: json as object }, include: { lines: true } };
  const order = await on(plain, ids).order.create(create);
  const ours = (order as unknown as { lines: readonly { id: bigint }[] }).lines.map(({ id }) => id);
  return [new Set(ours).size, JSON.stringify(order.data) === JSON.stringify(json) || order.data];
})();
found['one extension of two clients, and one transaction in another'] = await (async () => {
  const extension = snowflakes(ids);
  const another = await connect('bigint');
  opened.push(another);
  const one = await plain.$extends(extension).bare.create({ data: {} });
  const other = await another.$extends(extension).bare.create({ data: {} });
  const inner = await on(plain, ids).$transaction((own) =>
    (own as unknown as Client).$transaction((nested) => nested.bare.create({ data: {} })),
  );
  return new Set([one.id, other.id, inner.id]).size;
})();
found['a number that has lost digits'] = await outcome(() =>
  on(plain, ids).order.create({ data: { id: 30_586_178_364_244_026, ...data() } }),
);
found['the relation of what was created'] = (
  await on(plain, ids)
    .order.create({ data: { ...data(), lines: { create: [{ name: 'one' }, { name: 'two' }] } } })
    .lines()
)?.map(({ id }) => typeof id);
found['twenty at once'] = new Set(
  (await Promise.all(Array.from({ length: 20 }, () => on(plain, ids).order.create({ data: data() })))).map(
    ({ id }) => id,
  ),
).size;
found['a relation that is left out, or not as it should be'] = [
  typeof (await on(plain, ids).order.create({ data: { ...data(), lines: undefined } })).id,
  await outcome(() => on(plain, ids).order.create({ data: { ...data(), lines: { create: [null as never] } } })),
  await outcome(() => on(plain, ids).order.create({ data: { ...data(), lines: { create: 5 as never } } })),
  await outcome(() => on(plain, ids).order.create({ data: 'x' as never })),
  await outcome(() => on(plain, ids).order.createMany({} as never)),
  await outcome(() => on(plain, ids).bare.create({ data: null! })),
];

const wrong: (readonly [unknown] | readonly [unknown, (extension: SnowflakesExtension) => unknown])[] = [
  [5],
  [{ prefx: 'order' }],
  [{ as: 'bigint' }],
  [{ ids: {} }],
  [{ prefix: 'order' }],
  [{ models: { Orders: ['id'] } }],
  [{ models: { Order: 'id' } }],
  [{ models: { Order: ['ident'] } }],
  [{ models: { Order: ['data'] } }],
  [{ models: { Order: ['lines'] } }],
  [{ models: { Order: { id: { prefix: 'order' } } } }],
  [
    {
      models: Object.fromEntries(
        ['Customer', 'Profile', 'Order', 'Line', 'Tag', 'Bare', 'Typed', 'Parcel', 'Item', 'Account', 'Entry'].map(
          (each) => [each, []],
        ),
      ),
    },
  ],
  [{}, (extension) => extension({ $extends: () => 'a client of another release' })],
];
found['wrong options'] = wrong.map(([given, use]) => {
  try {
    const extension = snowflakes(given as SnowflakeFields);
    (use ?? ((each) => plain.$extends(each)))(extension);
    return 'no error';
  } catch (error) {
    return (error as Error).message.split('\n').at(-1);
  }
});

for (const each of opened) await each.$disconnect();
console.log(JSON.stringify(found));
