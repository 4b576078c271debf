/** Columns whose default the application has declared by Kysely's own schema builder, and the option `databaseDefault`. */
import { checkPrecision, withSnowflakes, type SnowflakeColumns } from '@raindrop/orm/kysely';
import type { Generated } from 'kysely';
import { Kysely, plainDialect, sql, type } from './shop.js';

interface Shop {
  parcels: { id: Generated<string>; title: string | null };
}

let last = 2n ** 60n;
const ids = { nextId: () => last++, nextString: () => String(last++) };
const found: Record<string, unknown> = {};
const opened: { destroy(): Promise<void> }[] = [];

function open(options: Partial<SnowflakeColumns>): InstanceType<typeof Kysely<Shop>> {
  const db = new Kysely<Shop>({
    dialect: withSnowflakes(plainDialect(), { ids, columns: { parcels: ['id'] }, ...options }),
  });
  opened.push(db);
  return db;
}

function failure(options: Partial<SnowflakeColumns>): string {
  try {
    open(options);
    return 'none';
  } catch (error) {
    const { errorCode, message } = error as Error & { readonly errorCode?: string };
    return `${errorCode}: ${message.replaceAll(/\s+/g, ' ')}`;
  }
}

/** What the check says of the defaults: no setting of the driver keeps digits in JSON. */
async function warningsOf(db: Parameters<typeof checkPrecision>[0]): Promise<string[]> {
  const { warnings } = await checkPrecision(db);
  return warnings.filter((each) => !each.includes('JSON of a query'));
}

/** A dialect whose adapter cannot be made yet. */
const later = Object.assign(Object.create(plainDialect()) as ReturnType<typeof plainDialect>, {
  createAdapter: () => {
    throw new Error('too early');
  },
});
found['the adapter is made without the option'] = (() => {
  withSnowflakes(later, { ids, columns: { parcels: ['id'] } });
  return false;
})();

if (type !== 'postgres') {
  found['refused'] = failure({ databaseDefault: true });
} else {
  const db = open({ databaseDefault: true });
  await db.schema
    .createTable('parcels')
    .addColumn('id', 'bigint', (column) => column.primaryKey().defaultTo(sql`raindrop_id()`))
    .addColumn('title', 'text')
    .execute();
  await db
    .insertInto('parcels')
    .values([{ title: 'a' }, { title: 'b' }])
    .execute();
  await db.insertInto('parcels').defaultValues().execute();
  await sql`insert into parcels (title) values ('raw')`.execute(db);
  await sql`insert into parcels (title) select title from parcels where title = 'a'`.execute(db);
  const rows = await db.selectFrom('parcels').selectAll().execute();
  found['rows of the process'] = rows.filter(({ id }) => id.length > 10).length;
  found['rows of the database'] = rows.filter(({ id }) => id.length <= 10).length;
  found['from select'] = await db
    .insertInto('parcels')
    .columns(['title'])
    .expression(db.selectFrom('parcels').select('title'))
    .execute()
    .catch(({ errorCode }: { errorCode: string }) => errorCode);
  found['check'] = await warningsOf(db);
  const perColumn = { columns: { parcels: { id: { databaseDefault: true } } } };
  found['check, by an option of the column'] = await warningsOf(open(perColumn));
  found['check of a default that is not declared'] = await warningsOf(open({}));
  found['check of another function'] = await warningsOf(open({ databaseDefault: 'shop.next_id' }));
  const alter = db.schema.alterTable('parcels');
  await alter.alterColumn('id', (column) => column.dropDefault()).execute();
  found['check of a column without a default'] = await warningsOf(db);
  await alter.alterColumn('id', (column) => column.setDefault(sql`raindrop_id()`)).execute();
  found['check, once it is set'] = await warningsOf(db);
  found['with typed IDs'] = failure({ databaseDefault: true, prefix: 'parcel' });
  found['no name'] = failure({ databaseDefault: 'next_id()' });
}
for (const each of opened) await each.destroy();
console.log(JSON.stringify(found));
