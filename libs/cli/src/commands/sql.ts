import type { Layout } from '@raindrop/core';
import type { SnowflakeModuleOptions, SupportedDatabase } from '@raindrop/node';
import { databaseAddressesOf, type Dialect, dialectOf, resolveSnowflakeOptions } from '@raindrop/node/internal';
import { type KeyPath, keyPathsOf } from '../adopt/old-key.js';
import { InputError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { type FlagValues, moduleOptions, namesLayout, refuseUnknown } from '../options/module-options.js';
import { refuseFunctionFlags } from '../options/function-flags.js';
import { issuingFunction, requireMakesIds } from '../service/database-ids.js';
import { layoutMeant, requireRows } from '../service/open-workers.js';
import { columnsSql, firstIdSql, functionsSql, hasFunctions } from '../sql/layout-sql.js';
import { typedFunctionsSql } from '../sql/typed-sql.js';
import {
  isPeriod,
  nextPeriod,
  type PartitionRange,
  partitionSqlOf,
  partitionsOf,
  type Period,
} from '../sql/partitions-sql.js';
import { detachesPartitions, type Upkeep, upkeepSql } from '../sql/upkeep-sql.js';

/** The values of `--db`, and their types in the words of TypeORM. */
const DATABASES: Readonly<Record<string, SupportedDatabase>> = {
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mariadb',
  sqlite: 'better-sqlite3',
};

/** The flags that are about partitions only. */
const PARTITION_FLAGS = ['from', 'to', 'ahead', 'keep', 'drop'] as const;

/** The most partitions of `--keep` and of its `--ahead`: MariaDB counts to 1,000 in one statement. */
const MOST_KEPT = 7_000;
const MOST_AHEAD = 900;

/** The statements, and comments below them. */
interface Printed {
  readonly statements: readonly string[];
  readonly notes: readonly string[];
}

/**
 * `raindrop sql`: prints functions that read the IDs of a layout; with `--table` generated columns; with `--partitions`
 * the partitions of a table by the time of its IDs, or with `--keep` what a scheduler runs; with `--issue` a function that
 * makes IDs. It changes nothing.
 */
export async function sql(flags: FlagValues, output: CliOutput): Promise<void> {
  if (flags['issue'] === true) return issue(flags, output);
  refuseFunctionFlags(flags, '--issue');
  // `--table` names a table with IDs, not the worker table.
  const options = moduleOptions({ ...flags, table: undefined });
  refuseUnknown(options);
  const type = databaseOf(flags['db'] as string | undefined, options);
  const dialect = dialectOf(type);
  const table = flags['table'] as string | undefined;
  const keys = table === undefined ? [] : keyPathsOf(table, flags['column'] as string);
  const range = flags['keep'] === undefined ? rangeOf(flags, Date.now()) : undefined;
  const upkeep = upkeepOf(flags);
  const isPartitioned = range !== undefined || upkeep !== undefined;
  if (isPartitioned && keys.length === 0) throw new InputError('--partitions needs --table, the table to partition');
  // Before a database is asked for its layout.
  if (isPartitioned) partitionSqlOf(dialect);
  if (upkeep !== undefined) refuseLoss(upkeep, dialect);
  const layout = await layoutMeant('sql without a layout', options);
  const printed =
    upkeep !== undefined
      ? keeping(layout, dialect, keys, upkeep)
      : range !== undefined
        ? partitioning(layout, dialect, keys, range)
        : reading(layout, dialect, keys);
  await output.result({ database: type, layout: layout.fingerprint, ...printed }, () => [
    `-- Layout ${layout.fingerprint}; times are UTC`,
    ...printed.statements.map((each) => `${each};`),
    ...printed.notes.map((each) => `-- ${each}`),
  ]);
}

/** `raindrop sql --issue`: prints the statement that installs a function, for rows that no process inserts. */
async function issue(flags: FlagValues, output: CliOutput): Promise<void> {
  // Here `--table` names the worker table.
  const options = moduleOptions({ ...flags, table: flags['table'] ?? process.env['RAINDROP_TABLE'] });
  refuseUnknown(options);
  const type = databaseOf(flags['db'] as string | undefined, options);
  for (const each of [type, databaseAddressesOf(options.dbConfig)?.[0]?.type ?? type]) {
    requireMakesIds('--issue', dialectOf(each));
  }
  const layout = await layoutMeant('sql --issue', options);
  const named = namesLayout(options) ? options : { ...options, layout };
  const resolved = resolveSnowflakeOptions(named, Date.now());
  requireRows('sql --issue', resolved);
  const { sql: statement, ...made } = await issuingFunction(named, resolved, flags);
  const notes = [
    'for the account that owns the worker table; run it again after a restore and its fence',
    'the default of a key, for rows that no process inserts:',
    `ALTER TABLE orders ALTER COLUMN id SET DEFAULT ${made.function}`,
  ];
  const { tableName } = resolved;
  const result = {
    database: type,
    layout: layout.fingerprint,
    table: tableName,
    ...made,
    statements: [statement],
    notes,
  };
  await output.result(result, () => [
    `-- Layout ${layout.fingerprint}; worker ${made.workerId} of ${tableName}`,
    `${statement};`,
    ...notes.map((each) => (each.startsWith('ALTER') ? `-- ${each};` : `-- ${each}`)),
  ]);
}

/** Functions of a layout and of typed IDs, or the columns of tables. */
function reading(layout: Layout, dialect: Dialect, keys: readonly KeyPath[]): Printed {
  if (keys.length === 0) {
    const { family } = dialect;
    return { statements: [...functionsSql(layout, family), ...typedFunctionsSql(layout, family)], notes: [] };
  }
  const statements = keys.flatMap((each) => columnsSql(layout, dialect, each));
  if (hasFunctions(dialect.family)) return { statements, notes: [] };
  const about = "the first ID of a time, for :moment = '2026-02-01' or '2026-02-01T12:00:00.250Z':";
  return { statements, notes: [about, firstIdSql(layout, dialect.family, ':moment')] };
}

function partitioning(layout: Layout, dialect: Dialect, keys: readonly KeyPath[], wish: PartitionWish): Printed {
  const partitions = partitionsOf(layout, wish);
  const { make, add, isSplitFromStart } = partitionSqlOf(dialect);
  const write = wish.isMore ? add : make;
  const statements = keys.flatMap((each) => write(dialect, each, partitions));
  const isNew = isSplitFromStart && !wish.isMore;
  const made = keys.map(({ name, column }) => `${name} must be made with PARTITION BY RANGE (${column})`);
  return { statements, notes: isNew ? made : [] };
}

function keeping(layout: Layout, dialect: Dialect, keys: readonly KeyPath[], upkeep: Upkeep): Printed {
  // The layout has IDs, and its ticks are not longer than the periods.
  partitionsOf(layout, { period: upkeep.period, fromMs: Math.max(Date.now(), layout.epochMs), end: { count: 1 } });
  const statements = keys.flatMap((each) => upkeepSql(layout, dialect, each, upkeep));
  return {
    statements,
    notes: [`for a scheduler, every day, as the owner of ${keys.map(({ name }) => name).join(', ')}`],
  };
}

/** The partitions that the flags ask for. */
interface PartitionWish extends PartitionRange {
  /** Whether the table has partitions. */
  readonly isMore: boolean;
}

/** @throws InputError for flags that name no range */
function rangeOf(flags: FlagValues, nowMs: number): PartitionWish | undefined {
  const [period, from, to, ahead] = ['partitions', ...PARTITION_FLAGS].map((name) => flags[name] as string | undefined);
  if (period === undefined) {
    const given = PARTITION_FLAGS.find((name) => flags[name] !== undefined);
    if (given !== undefined) throw new InputError(`--${given} is for --partitions`);
    return undefined;
  }
  requirePeriod(period);
  if (flags['drop'] !== undefined) throw new InputError('--drop is for --keep, which says what is old');
  const fromMs = from === undefined ? undefined : dateOf('--from', from);
  if (ahead !== undefined) {
    if (to !== undefined) throw new InputError('give --to or --ahead, not both: each says where the partitions end');
    const count = Number(ahead);
    if (!/^\d{1,4}$/.test(ahead) || count < 1) throw new InputError(`--ahead ${ahead}: must be a number from 1`);
    return { period, fromMs: fromMs ?? nextPeriod(period, nowMs), end: { count }, isMore: true };
  }
  if (fromMs === undefined || to === undefined) {
    throw new InputError('which partitions? Give --from and --to, such as 2026-01, or --ahead with how many to add');
  }
  const toMs = dateOf('--to', to);
  if (toMs <= fromMs) throw new InputError(`--to ${to} must be later than --from ${from}`);
  return { period, fromMs, end: { toMs }, isMore: false };
}

/**
 * Reads the flags of `--keep`; undefined without it.
 * @throws InputError for flags that do not fit together, and for numbers out of their range
 */
function upkeepOf(flags: FlagValues): Upkeep | undefined {
  const [period, from, to, ahead, keep] = ['partitions', ...PARTITION_FLAGS].map(
    (name) => flags[name] as string | undefined,
  );
  if (keep === undefined) return undefined;
  if (period === undefined) throw new InputError(`--keep ${keep} is for --partitions`);
  requirePeriod(period);
  for (const [flag, value] of [
    ['--from', from],
    ['--to', to],
  ]) {
    if (value === undefined) continue;
    throw new InputError(`${flag} ${value}: not with --keep, which goes by the clock of the database`);
  }
  if (ahead === undefined) {
    throw new InputError(`--keep ${keep} needs --ahead, how many partitions to make in advance, such as 3`);
  }
  const drops = flags['drop'] !== undefined;
  if (keep === 'all' && drops) throw new InputError('--drop: there is nothing to drop with --keep all');
  return {
    period,
    ahead: numberUpTo(MOST_AHEAD, ahead, `--ahead ${ahead}: must be a number`, ' with --keep'),
    keep: keep === 'all' ? undefined : numberUpTo(MOST_KEPT, keep, `--keep ${keep}: must be all, or a number`),
    drops,
  };
}

/** @throws InputError where old partitions cannot be detached, and `--drop` does not say that their rows may go */
function refuseLoss({ keep, drops }: Upkeep, dialect: Dialect): void {
  if (keep === undefined || drops || detachesPartitions(dialect)) return;
  throw new InputError(
    `--keep ${keep}: MySQL and MariaDB do not detach partitions. Give --drop, which deletes the rows of older ones, or ` +
      `--keep all`,
  );
}

function requirePeriod(period: string): asserts period is Period {
  if (!isPeriod(period)) throw new InputError(`--partitions ${period}: must be month, week or day`);
}

/** Reads a number from 1. @throws InputError for any other text */
function numberUpTo(most: number, text: string, complaint: string, condition = ''): number {
  const number = Number(text);
  if (/^\d{1,4}$/.test(text) && number >= 1 && number <= most) return number;
  throw new InputError(`${complaint} from 1 to ${most.toLocaleString('en-US')}${condition}`);
}

/** Reads `2026-01` or `2026-01-05`; Unix ms. */
function dateOf(flag: string, text: string): number {
  const day = /^\d{4}-\d\d$/.test(text) ? `${text}-01` : text;
  const date = new Date(`${day}T00:00:00Z`);
  // JavaScript may read 30 February as a day in March.
  if (!Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === day) return date.getTime();
  throw new InputError(`${flag} ${text}: must be a month or a day, such as 2026-01 or 2026-01-05`);
}

/** The database of `--db`, or of the URL. */
function databaseOf(given: string | undefined, { dbConfig }: SnowflakeModuleOptions): SupportedDatabase {
  const type = given === undefined ? databaseAddressesOf(dbConfig)?.[0]?.type : DATABASES[given];
  if (type !== undefined) return type;
  const names = Object.keys(DATABASES).join(', ');
  throw new InputError(given === undefined ? `which database? Give --db: ${names}` : `--db ${given}: must be ${names}`);
}
