import type { OptionReader } from '@raindrop/core/internal';
import { withAddresses } from '../database/addresses.js';
import type { SqlDatabase } from '../database/sql-database.js';
import {
  DATABASE_SETTINGS_RULE,
  databaseAddressesOf,
  describeSettings,
  type DatabaseSettings,
  settingsProblemOf,
} from '../drivers/database-settings.js';
import { settingsDatabases } from '../drivers/settings-database.js';

/** One address of a database, or several in one URL. */
export type DatabaseAddress = string | DatabaseSettings | SqlDatabase;

/** Reads `dbConfig`: one address, or a list of them. */
export function readDbConfig(reader: OptionReader): SqlDatabase | undefined {
  const given = reader.value('dbConfig');
  if (given === undefined) return undefined;
  if (!Array.isArray(given)) return readAddress(reader, given, '');
  if (given.length === 0) reader.problem('dbConfig', given, 'must name one address at least');
  const databases = given.map((each, index) => readAddress(reader, each, `[${index}]: `));
  const found = databases.flatMap((each) => each?.addresses ?? each ?? []);
  if (found.length < given.length || found.length === 0) return undefined;
  const message = differenceOf(found);
  if (message !== undefined) reader.problem('dbConfig', found.map(({ type }) => type).join(', '), message);
  return withAddresses(found);
}

function readAddress(reader: OptionReader, given: unknown, which: string): SqlDatabase | undefined {
  if (typeof given === 'object' && given !== null && 'driver' in given) return given as SqlDatabase;
  const settings = databaseAddressesOf(given);
  if (settings !== undefined) return settingsDatabases(settings, 'dbConfig');
  // A URL may hold a password, and so may settings: neither belongs into a message.
  reader.problem(
    'dbConfig',
    `${which}${describeSettings(given)}`,
    settingsProblemOf(given) ?? `must be ${DATABASE_SETTINGS_RULE}`,
  );
  return undefined;
}

/** Why these cannot be addresses of one database; undefined when they may be. */
function differenceOf(databases: readonly SqlDatabase[]): string | undefined {
  if (databases.length === 1) return undefined;
  const isOne = (of: (database: SqlDatabase) => unknown): boolean => new Set(databases.map(of)).size === 1;
  if (!isOne(({ type }) => type)) return 'must name addresses of one database, and these are of different types';
  if (!isOne(({ schema }) => schema)) return 'must name addresses of one database, with the same schema';
  if (databases[0]!.type !== 'better-sqlite3') return undefined;
  return 'must name one file: a SQLite database has no second address';
}
