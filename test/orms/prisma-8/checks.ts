/** What the extension does beside the paths of matrix.ts, and controls that show what Prisma 8 does without it. */
import { rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@prisma/orm-postgres/config';
import { executeContractEmit } from '@prisma/orm-toolchain/cli/control-api';
import { type KeyIds, snowflakes, type SnowflakesOptions } from '@raindrop/orm/prisma-8';
import pg from 'pg';
import {
  type Client,
  connect,
  contractOf,
  controlOf,
  extension,
  fresh,
  makeTables,
  modelsOf,
  openIds,
  outcome,
  rowsOf,
  tablesOf,
} from './shop.js';

const found: Record<string, unknown> = {};
const folder = fileURLToPath(new URL('../generated/checks', import.meta.url));

/** What Prisma says of a field of a contract. */
async function emitted(field: string, extensions = [snowflakes()]): Promise<unknown> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, '{ "dependencies": { "@prisma/orm-postgres": "*" } }');
  writeFileSync(`${folder}/contract.prisma`, `// use prisma-8\nmodel Row {\n  id Int @id\n  ${field}\n}\n`);
  const config = defineConfig({ contract: `${folder}/contract.prisma`, extensions });
  try {
    await executeContractEmit({ config, cwd: folder, projectDir: folder });
    return 'emitted';
  } catch (error) {
    const { diagnostics = [] } = error as { diagnostics?: { meta?: { code: string } }[] };
    return diagnostics.map(({ meta }) => meta?.code).join();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The problems of wrong options. */
async function problems(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'none';
  } catch (error) {
    return (error as Error).message.split('\n').slice(1).join('\n');
  }
}

/** IDs that no number holds, each with the code that it was asked for. */
function countedIds(): KeyIds & { readonly codes: (string | undefined)[] } {
  const codes: (string | undefined)[] = [];
  let last = 2n ** 55n;
  const nextId = (code?: string): bigint => {
    codes.push(code);
    return (last += 3n);
  };
  return { codes, nextId, nextString: (code) => String(nextId(code)) };
}

async function using<T>(db: Client, use: (db: Client) => Promise<T>): Promise<T> {
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}

found['fields of a contract'] = {
  BigInt: await emitted('key BigInt @default(snowflake())'),
  BigIntNumber: await emitted('key BigIntNumber @default(snowflake())'),
  String: await emitted('key String @default(snowflake())'),
  VarChar: await emitted('key VarChar(40) @default(snowflake())'),
  Int: await emitted('key Int @default(snowflake())'),
  'BigInt?': await emitted('key BigInt? @default(snowflake())'),
  'with an argument': await emitted('key BigInt @default(snowflake(1))'),
  'without the extension': await emitted('key BigInt @default(snowflake())', []),
};

await makeTables('bigint');
const ids = countedIds();

found['a client without the extension'] = await outcome(async () => {
  const { default: postgres } = await import('@prisma/orm-postgres/runtime');
  postgres({ contractJson: contractOf('bigint') });
});
for (const form of ['bigint', 'text', 'number'] as const) {
  await makeTables(form);
  found[`a client without the middleware, ${form}`] = await using(
    await connect(form, ids, { isGuarded: false }),
    (db) =>
      Promise.all([
        outcome(() => modelsOf(db).Order.create({ number: fresh() })),
        outcome(() => modelsOf(db).Order.createAndCount([{ number: fresh() }])),
        outcome(() => modelsOf(db).Order.upsert({ create: { number: 'a' }, update: {}, conflictOn: { number: 'a' } })),
        outcome(() =>
          db.runtime().execute(
            tablesOf(db)
              .Order.insert([{ number: fresh() }])
              .build(),
          ),
        ),
        rowsOf('select count(*)::int as rows from "Order"', form).then(([row]) => row!['rows']),
      ]),
  );
}

await makeTables('bigint');
const withOptions: SnowflakesOptions<'postgres'> = {
  ids,
  code: 'rows',
  models: { Typed: { id: { prefix: 'typed', code: 'typed' } }, Order: { id: { code: undefined } } },
};
found['a typed ID and a second key, with options for each'] = await using(
  await connect('bigint', snowflakes(withOptions)),
  async (db) => {
    const { id, publicId } = await modelsOf(db).Typed.create({});
    await modelsOf(db).Order.create({ number: fresh() });
    const where = { id };
    return [
      id.replace(/_.+/, '_...'),
      typeof publicId,
      (await modelsOf(db).Typed.first(where))?.publicId === publicId,
      ids.codes.slice(-3),
    ];
  },
);
found['a table of its own for each kind'] = await using(await connect('bigint', ids), async (db) => {
  const tasks = modelsOf(db).Task.variant('Feature');
  const { id } = await tasks.create({ title: 'one', priority: 1 } as never);
  const [row] = await rowsOf('select features.id::text, tasks.id::text as base from features, tasks', 'bigint');
  return [String(id) === row!['id'], row!['id'] === row!['base']];
});
found['keys of the caller'] = await using(await connect('bigint', ids), async (db) => {
  const created = (id: unknown): Promise<unknown> =>
    outcome(async () => String((await modelsOf(db).Order.create({ id: id as bigint, number: fresh() })).id));
  return [await created(7n), await created('8'), await created(30586178364244025), await created(null)];
});
found['twenty at once'] = await using(await connect('bigint', ids), async (db) => {
  const rows = await Promise.all(Array.from({ length: 20 }, () => modelsOf(db).Order.create({ number: fresh() })));
  return new Set(rows.map(({ id }) => id)).size;
});

let left = 2;
const few: KeyIds = {
  nextId: () => {
    if (left-- > 0) return ids.nextId();
    throw Object.assign(new Error('none left'), { errorCode: 'NONE_LEFT' });
  },
  nextString: () => String(few.nextId()),
};
found['a transaction of several rows, of which one gets no ID'] = await using(
  await connect('bigint', few),
  async (db) => {
    const result = await outcome(() =>
      db.transaction(async (tx) => {
        for (const number of ['t1', 't2', 't3']) await modelsOf(tx).Order.create({ number });
      }),
    );
    const stored = await rowsOf(
      `select count(*)::int as rows from "Order" where number in ('t1', 't2', 't3')`,
      'bigint',
    );
    return [result, stored[0]!['rows']];
  },
);

const create = (db: Client): Promise<unknown> =>
  outcome(async () => typeof (await modelsOf(db).Order.create({ number: fresh() })).id);
found['no service'] = await using(await connect('bigint', extension({})), create);
found['a service that is opened later, then closed'] = await using(
  await connect('bigint', extension({})),
  async (db) => {
    const service = await openIds();
    const results = [await create(db)];
    await service.close();
    return [...results, await create(db)];
  },
);
found['a function that returns the service'] = await using(
  await connect('bigint', extension({ ids: () => ids })),
  create,
);

// The worker tables, and what the commands of Prisma would do with them.
const migrationsDir = fileURLToPath(new URL('../generated/migrations', import.meta.url));
async function planned(): Promise<unknown> {
  const control = await controlOf('bigint');
  try {
    const contract = contractOf('bigint');
    const plan = await control.dbUpdate({ contract, mode: 'plan', migrationsDir });
    const { ok } = await control.schemaVerify({ contract, strict: true });
    return [plan.ok ? plan.value.plan.operations.map(({ id }) => id) : plan.failure.code, ok];
  } finally {
    await control.close();
  }
}
const inOwnSchema = await openIds();
const tables = `select count(*)::int as tables from pg_tables where schemaname = 'raindrop'`;
found['worker tables in a schema of their own'] = [
  (await rowsOf(tables, 'bigint'))[0]!['tables'],
  ...((await planned()) as []),
];
await inOwnSchema.close();
await rowsOf('create table soc_raindrop_worker (id int)', 'bigint');
found['control: a worker table beside those of the application'] = await planned();
await rowsOf('drop table soc_raindrop_worker', 'bigint');
await rowsOf('alter table "Order" alter column id set default 5', 'bigint');
found['a default that the contract does not have'] = await planned();
await rowsOf('alter table "Order" alter column id drop default', 'bigint');

// For the whole process, so it stands at the end.
pg.types.setTypeParser(20, Number);
found['a driver that rounds'] = await using(await connect('bigint', ids), async (db) => {
  await rowsOf(`insert into "Order" (id, number) values (9223372036854775807, 'largest')`, 'bigint');
  const { Order } = modelsOf(db);
  return outcome(async () => String((await Order.where({ number: 'largest' }).first())!.id));
});

const wrongOptions: readonly unknown[] = [
  5,
  { prefx: 'a' },
  { as: 'bigint' },
  { ids: 5 },
  { target: 'mysql' },
  { databaseDefault: true },
];
found['wrong options'] = [];
const said = found['wrong options'] as string[];
for (const options of wrongOptions) said.push(await problems(() => snowflakes(options as never)));
const wrongModels: readonly NonNullable<SnowflakesOptions['models']>[] = [
  { Order: { ident: {} } },
  { Orders: { id: {} } },
  { Order: { id: { prefix: 'a' } } },
];
for (const models of wrongModels) {
  const db = await connect('bigint', snowflakes({ ids, models }));
  said.push(await problems(() => using(db, () => modelsOf(db).Order.create({ number: fresh() }))));
}
console.log(JSON.stringify(found));
