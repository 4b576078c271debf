/** What an application exports of its database, for `raindrop doctor --app`. `APP` says which database, and how it is read. */
import { createRequire } from 'node:module';
import { snowflakeKey, withSnowflakes } from '@raindrop/orm/sequelize';
import { Sequelize } from 'sequelize';

const { kind, url, isExact } = JSON.parse(process.env['APP']!) as {
  readonly kind: string;
  readonly url: string;
  readonly isExact: boolean;
};
if (kind === 'postgres' && !isExact) {
  const { types } = createRequire(import.meta.url)('pg') as { types: { setTypeParser(oid: number, to: object): void } };
  types.setTypeParser(20, Number);
}
const dialectOptions = kind === 'postgres' || isExact ? {} : { supportBigNumbers: false, bigIntAsNumber: true };
export const sequelize = new Sequelize(
  url.replace(/^mysql:/, 'mariadb:'),
  withSnowflakes({ logging: false, dialectOptions }),
);
sequelize.define('Order', { id: snowflakeKey() });
