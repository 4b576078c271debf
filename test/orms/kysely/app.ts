/** What an application exports of its database, for `raindrop doctor --app`. `APP` says which database, and how it is read. */
import { openIdService } from '@raindrop/node';
import { withSnowflakes } from '@raindrop/orm/kysely';
import { type Generated, Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';

interface App {
  readonly kind: string;
  readonly url: string;
  readonly isExact: boolean;
}

const { kind, url, isExact } = JSON.parse(process.env['APP']!) as App;
// The command closes it as well.
await openIdService({ dbConfig: url, logger: { log() {}, warn() {}, error() {} } });
const types = { getTypeParser: () => Number } as unknown as pg.CustomTypesConfig;
const dialect =
  kind === 'postgres'
    ? new PostgresDialect({ pool: new pg.Pool({ connectionString: url, ...(isExact ? {} : { types }) }) })
    : new MysqlDialect({ pool: mysql.createPool({ uri: url, supportBigNumbers: isExact }) });

export default new Kysely<{ orders: { id: Generated<string> } }>({
  dialect: withSnowflakes(dialect, { columns: { orders: ['id'] } }),
});
