/** Which settings the check of precision finds, and which it leaves alone. Prints what each came to. */
import { createRequire } from 'node:module';
import { checkPrecision, type KeyIds, type KeyOptions, RoundedIdsError, snowflakeKey } from '@raindrop/orm/sequelize';
import { QueryTypes } from 'sequelize';
import { connect, define, dialect, isMysql } from './shop.js';

const results: Record<string, unknown> = {};
const ids = (bits: number): KeyIds => ({ nextId: () => 1n, nextString: () => '1', layout: { bits } });

async function found(dialectOptions: object = {}, key: KeyOptions = { ids: ids(63) }): Promise<unknown> {
  const sequelize = connect({ dialectOptions });
  define(sequelize, key);
  try {
    return (await checkPrecision(sequelize)).exact;
  } catch (error) {
    if (!(error instanceof RoundedIdsError)) return (error as { errorCode?: string }).errorCode ?? String(error);
    const { errorCode, column, path, sent, received, cure } = error;
    return { errorCode, column, path, sent, received, cure };
  } finally {
    await sequelize.close();
  }
}

const plain = connect({}, true);
/** What Sequelize alone makes of the largest ID. */
async function control(sql = 'select 9223372036854775807 as id'): Promise<string> {
  const [row] = await plain.query<{ id: unknown }>(sql, { type: QueryTypes.SELECT });
  return String(row!.id);
}

/** Tables that a migration made. */
async function migrated(columns: string): Promise<void> {
  await plain.query('drop table if exists orders');
  await plain.query(`create table orders (${columns})`);
}

results['as it is'] = await found();
results['bigint'] = await found({}, { ids: ids(63), as: 'bigint' });
results['number'] = await found({}, { ids: ids(53), as: 'number' });
results['typed'] = await found({}, { ids: ids(63), prefix: 'order' });
results['no service'] = await found({}, { service: 'never' });
const other = connect({});
other.define('plain', {});
results['no keys of ours'] = await checkPrecision(other).catch((error: { errorCode?: string }) => error.errorCode);
await other.close();
const bare = connect({}, true);
bare.define('bare', { id: snowflakeKey({ ids: ids(63) }) });
results['without withSnowflakes()'] = await checkPrecision(bare).catch(
  (error: { errorCode?: string }) => error.errorCode,
);
await bare.close();
const down = connect(dialect === 'sqlite' ? { storage: '/dev/null/shop.sqlite' } : { port: 1 });
define(down, { ids: ids(63) });
results['a database that is down'] = await checkPrecision(down).catch((error: Error) => error.name);

if (dialect === 'postgres') {
  const { types } = createRequire(import.meta.url)('pg') as {
    types: { setTypeParser(oid: number, parse: (text: string) => unknown): void };
  };
  types.setTypeParser(20, Number);
  results['a parser of the process'] = await found();
  results['number, parsed'] = await found({}, { ids: ids(53), as: 'number' });
  results['control'] = await control();
  types.setTypeParser(20, String);
} else if (isMysql) {
  const typeCast = (field: { type: string; string(): string }, next: () => unknown): unknown =>
    field.type === 'LONGLONG' || field.type === 'BIGINT' ? Number(field.string()) : next();
  results['typeCast'] = await found({ typeCast });
  results['a setting'] = await found({ supportBigNumbers: false, bigIntAsNumber: true });
} else {
  await migrated('id bigint not null primary key, code varchar(9)');
  results['a bigint of a migration'] = await found();
  results['number, a bigint of a migration'] = await found({}, { ids: ids(53), as: 'number' });
  await migrated('id integer primary key');
  results['an integer primary key'] = await found();
  await migrated('id varchar(20) not null primary key');
  results['a varchar of a migration'] = await found();
  results['control'] = await control();
}
const { fill } = JSON.parse(process.argv[2]!) as { readonly fill: readonly string[] };
for (const statement of fill) await plain.query(statement);
const filled = connect({});
define(filled, { ids: ids(63) });
results['a key that the database fills'] = (await checkPrecision(filled)).warnings;
await filled.close();
await plain.close();
console.log(JSON.stringify(results));
process.exit();
