/** Keys whose default in the schema is a function of the database. */
import { checkPrecision } from '@raindrop/orm/prisma';
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import type { PrismaClient } from './generated/postgresql-BigInt/declared/client.js';
import * as sqlite from './generated/sqlite-BigInt/client/client.js';
import { connect, countedIds, type SnowflakeFields, snowflakes } from './shop.js';

const ids = countedIds();
const found: Record<string, unknown> = {};
const plain = (await connect('bigint', 'declared')) as unknown as PrismaClient;

function failure(work: () => unknown): string {
  try {
    work();
    return 'none';
  } catch (error) {
    const { errorCode, message } = error as Error & { readonly errorCode?: string };
    return `${errorCode}: ${message.replaceAll(/\s+/g, ' ')}`;
  }
}

/** Which columns of a new row have IDs of the process. */
async function created(options: SnowflakeFields): Promise<unknown> {
  const db = plain.$extends(snowflakes(options)) as unknown as PrismaClient;
  const { id, named, clock } = await db.issued.create({ data: { title: 'created' } });
  const filled = [id, named].map((each) => (each! > 2n ** 40n ? 'of the process' : 'of the database'));
  return [...filled, typeof clock];
}

const warningsOf = async (options: SnowflakeFields): Promise<readonly string[]> => {
  const { warnings } = await checkPrecision(plain.$extends(snowflakes(options)));
  return warnings.filter((each) => each.startsWith('Issued.'));
};

// As `prisma migrate` writes the table.
await plain.$executeRawUnsafe(`create table "Issued" (id bigint not null default raindrop_id() primary key,
  named bigint default "Shop"."nextId"(), clock text default now(), title text)`);
found['the function by its usual name'] = await created({ ids });
found['and one that the option names'] = await created({ ids, databaseDefault: 'Shop.nextId' });
found['by a list of keys'] = await created({ ids, models: { Issued: ['named'] } });
await plain.$executeRawUnsafe(`insert into "Issued" (title) values ('raw')`);
const [raw] = await plain.issued.findMany({ where: { title: 'raw' } });
found['raw'] = [raw!.id < 2n ** 40n, raw!.named! < 2n ** 40n];
found['check'] = await warningsOf({ ids, databaseDefault: 'Shop.nextId' });
await plain.$executeRawUnsafe('alter table "Issued" alter column id drop default');
found['check of a column without its default'] = await warningsOf({ ids });
found['typed IDs'] = failure(() => snowflakes({ ids, databaseDefault: true, prefix: 'order' }));
const other = new sqlite.PrismaClient({ adapter: new PrismaBetterSqlite3({ url: 'file::memory:' }) });
found['another database'] = failure(() =>
  other.$extends(snowflakes({ ids, models: { Order: { id: { databaseDefault: true } } } })),
);
found['another database, by the option of all fields'] = failure(() =>
  other.$extends(snowflakes({ ids, databaseDefault: true })),
);
found['another database, by that option and a field without one'] = failure(() =>
  other.$extends(snowflakes({ ids, databaseDefault: true, models: { Order: { id: { databaseDefault: undefined } } } })),
);
await plain.$disconnect();
console.log(JSON.stringify(found));
