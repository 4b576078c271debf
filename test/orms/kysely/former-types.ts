/** What the documents show, as the types of Kysely 0.28 have it; those of 0.29 are checked with the documents. */
import { openIdService } from '@raindrop/node';
import { withSnowflakes } from '@raindrop/orm/kysely';
import { Kysely, PostgresDialect, type Dialect, type Generated } from 'kysely-0.28';
import { Pool } from 'pg';

interface Shop {
  orders: { id: Generated<string>; customer: string };
}

export async function shop(url: string): Promise<string> {
  const ids = await openIdService({ dbConfig: url });
  const dialect = new PostgresDialect({ pool: new Pool({ connectionString: url }) });
  const db = new Kysely<Shop>({ dialect: withSnowflakes(dialect, { ids, columns: { orders: ['id'] } }) });
  const { id } = await db.insertInto('orders').values({ customer: 'Ada' }).returning('id').executeTakeFirstOrThrow();
  return id;
}

export function wrapped(dialect: Dialect): Dialect {
  return withSnowflakes(dialect, { columns: { orders: { id: { code: 'order', prefix: 'order' } } } });
}

// @ts-expect-error -- a table needs a list of columns, or options for each
withSnowflakes({} as Dialect, { columns: { orders: 'id' } });
// @ts-expect-error -- only a dialect can be wrapped
withSnowflakes({}, { columns: { orders: ['id'] } });
