/** Precision: the largest ID, sent through the application's own client and adapter. */

import { hasDigitsOf, type PrecisionReport } from '@raindrop/node/internal';
import type { Database } from '../databases.js';
import {
  fillerWarnings,
  isBigint,
  literalOf,
  type PrecisionOptions,
  RoundedIdsError,
  samplesOf,
  selectOf,
  typedInBigint,
} from '../precision.js';
import { databaseOf, type PrismaClientLike, type StoredKey, storedKeys, wrong } from './models.js';

/** A client of Prisma. */
export interface PrismaLike {
  /** Sends a query as it is. */
  $queryRawUnsafe(query: string): PromiseLike<unknown>;
}

/**
 * Sends the largest ID of the keys through the client's own adapter, by a SELECT of a literal, and compares the result. Await
 * it at the start. It checks `BigInt` keys, and `String` keys whose column is a `bigint` at this moment. It reads no rows.
 * Relations that `relationJoins` loads as JSON need no check: Prisma 7.4 and later write each `BigInt` as a text in this JSON.
 * @param prisma the client with `snowflakes()`, or with further extensions
 * @returns the exact keys, a warning for each `String` key whose relations Prisma refuses to read with `relationJoins`, and
 * one for each key that the database still fills
 * @throws RoundedIdsError if digits are lost, with the setting; NoOpenServiceError if the keys' service is not open;
 * ConfigurationError for a client without `snowflakes()`, and for typed IDs in a `bigint` column; Prisma's error if the database does not answer
 */
export async function checkPrecision(prisma: PrismaLike, options: PrecisionOptions = {}): Promise<PrecisionReport> {
  const keys = storedKeys(prisma);
  if (keys.length === 0) {
    throw wrong('prisma', 'a client', 'has no IDs: new PrismaClient({ adapter }).$extends(snowflakes(ids))');
  }
  const { _engineConfig: config } = prisma as unknown as PrismaClientLike;
  const { previewFeatures = [] } = config ?? {};
  const database = databaseOf(config);
  const valuesOf = async (sql: string): Promise<unknown[]> => {
    const [row] = (await prisma.$queryRawUnsafe(sql)) as [Record<string, unknown>];
    return Object.values(row);
  };
  const valueOf = async (expression: string): Promise<unknown> =>
    (await valuesOf(`select ${expression} as raindrop`))[0];
  const stored: StoredKey[] = [];
  for (const key of keys) {
    const { place, form } = key.source;
    if (key.type !== 'BigInt' && (await isBigint(key, database, valueOf)) !== true) continue;
    if (form.prefix !== undefined) throw typedInBigint(place, form.prefix);
    stored.push(key);
  }
  for (const sample of samplesOf(
    stored.map((key) => ({ ...key, isText: false })),
    options,
  )) {
    const received = await valueOf(literalOf(sample));
    if (hasDigitsOf(sample.id, received)) continue;
    throw new RoundedIdsError(sample.keys[0]!.source.place, 'column', String(sample.id), received, CURES[database]);
  }
  const placed = keys.map((key) => {
    const { place, databaseDefault } = key.source;
    return { ...key, place, databaseDefault };
  });
  const filled = await fillerWarnings(placed, database, (some) => valuesOf(selectOf(some)));
  const isJoining = REFUSES_JOINED_TEXTS[database] && previewFeatures.includes('relationJoins');
  return {
    exact: stored.map(({ source }) => source.place),
    warnings: stored
      .filter(({ type }) => isJoining && type === 'String')
      .map(
        ({ source }) =>
          `${source.place}: Prisma refuses to read it in relations that relationJoins loads as JSON (P2023). Make the field a ` +
          "BigInt, or load relations with relationLoadStrategy: 'query'",
      )
      .concat(filled),
  };
}

/** The adapters hide their options, so each names the settings that may round. */
const CURES: Readonly<Record<Database, string>> = {
  postgres:
    'The process makes a number of int8 (OID 20): pg.types.setTypeParser(20, ...) or pg.defaults.parseInt8. Remove it',
  mysql: 'The driver of PrismaMariaDb makes a number of a bigint: leave bigIntAsNumber out of its options',
  sqlite: 'The driver makes a number of an integer. PrismaBetterSqlite3 does not: use it as it is',
};

/** Whether Prisma refuses to read a `String` of a `bigint` in what `relationJoins` loads as JSON. */
const REFUSES_JOINED_TEXTS: Readonly<Record<Database, boolean>> = { postgres: true, mysql: false, sqlite: false };
