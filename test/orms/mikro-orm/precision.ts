/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-member-access -- the types of the two versions differ */
/** Which settings the check of precision finds, and which it leaves alone. Prints what each came to. */
import { defineEntity } from '@mikro-orm/core';
import { checkPrecision, type KeyOptions, RoundedIdsError } from '@raindrop/orm/mikro-orm';
import { connect, defineShop, type, version } from './shop.js';

const results: Record<string, unknown> = {};
const ids = (bits: number) => ({ nextId: () => 1n, nextString: () => '1', layout: { bits } });

async function found(driverOptions: object = {}, key: KeyOptions = { ids: ids(63) }): Promise<unknown> {
  const { entities } = defineShop(key);
  const orm = await connect(entities, undefined, { driverOptions });
  try {
    return (await checkPrecision(orm)).exact;
  } catch (error) {
    if (!(error instanceof RoundedIdsError)) return (error as { errorCode?: string }).errorCode ?? String(error);
    const { errorCode, column, path, sent, received, cure } = error;
    return { errorCode, column, path, sent, received, cure };
  } finally {
    await orm.close(true);
  }
}

/** Version 6 has the driver's options in `connection`. */
const optionsOf = (options: object): object => (version === 6 ? { connection: options } : options);

results['as it is'] = await found();
results['bigint'] = await found({}, { ids: ids(63), as: 'bigint' });
results['number'] = await found({}, { ids: ids(53), as: 'number' });
results['no service'] = await found({}, { service: 'never' });
if (type === 'postgres') {
  const { default: pg }: any = await import('pg');
  const getTypeParser = (oid: number, format: string): unknown =>
    oid === 20 ? Number : pg.types.getTypeParser(oid, format);
  results['types'] = await found(optionsOf({ types: { getTypeParser } }));
  pg.types.setTypeParser(20, Number);
  results['a parser of the process'] = await found();
  results['number, parsed'] = await found({}, { ids: ids(53), as: 'number' });
  pg.types.setTypeParser(20, String);
} else if (type === 'mariadb') {
  const typeCast = (field: any, next: () => unknown): unknown =>
    field.type === 'LONGLONG' || field.type === 'BIGINT' ? Number(field.string()) : next();
  results['typeCast'] = await found(optionsOf({ typeCast }));
  results['a setting'] = await found(
    optionsOf({ supportBigNumbers: false, ...(version === 6 && { bigIntAsNumber: true }) }),
  );
}
const { fill } = JSON.parse(process.argv[2]!) as { readonly fill: readonly string[] };
const shop = await connect(defineShop({ ids: ids(63) }).entities);
for (const statement of fill) await shop.em.getConnection().execute(statement);
results['a key that the database fills'] = (await checkPrecision(shop)).warnings;
await shop.close(true);
const Plain: any = defineEntity({ name: 'Plain', properties: (p: any) => ({ id: p.integer().primary() }) } as never);
const other = await connect([Plain]);
results['no keys of ours'] = await checkPrecision(other).catch(
  (error: unknown) => (error as { errorCode?: string }).errorCode,
);
await other.close(true);
console.log(JSON.stringify(results));
process.exit();
