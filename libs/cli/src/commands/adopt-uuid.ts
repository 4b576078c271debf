import { extname } from 'node:path';
import type { LayoutOptions } from '@raindrop/core';
import { proposalRemarks, proposeLayout, type Proposal } from '../adopt/propose-layout.js';
import { readUuidKeys } from '../adopt/uuid/read-uuid-key.js';
import { uuidMigrations } from '../adopt/uuid/uuid-migration.js';
import { synchronizes } from '../adopt/uuid/uuid-refusals.js';
import type { BreakingCode } from '../project/breaking-code.js';
import { openProject } from '../project/open-project.js';
import {
  alwaysSynchronizes,
  synchronizeRemarks,
  type Synchronizing,
  synchronizeSettings,
  uuidCode,
} from '../project/search-project.js';
import type { TypedColumn } from '../adopt/old-key.js';
import { keptName, type Numbers, type UuidKey } from '../adopt/uuid/uuid-key.js';
import { writeNew } from '../adopt/migration-text.js';
import { CommandFailedError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import type { FlagValues } from '../options/module-options.js';

/** Numbers are reserved for twice the rows of now, and for this many rows that come before the migration runs. */
const SPARE = 1_000_000n;

/** `raindrop adopt --from uuid`: two migrations that give the rows of tables numbers in place of their UUIDs. */
export async function adoptUuid(
  url: unknown,
  wish: Partial<LayoutOptions>,
  flags: FlagValues,
  output: CliOutput,
): Promise<void> {
  const now = Date.now();
  const [tables, columns] = [flags['table'] as string, flags['column'] as string];
  const { uuids, orders } = await readUuidKeys(url, tables, columns, flags['orderBy'] as string | undefined);
  const keys = uuids.keys.map((each, at): OrderedKey => {
    const { rows, sql, about } = orders[at]!;
    return { ...each, rows, about, numbers: { order: sql, reserve: each.first + 2n * rows + SPARE } };
  });
  const project = flags['project'] as string | undefined;
  const opened = project === undefined ? null : openProject(project);
  const synchronize = opened && synchronizeSettings(opened);
  const wrong = synchronize?.find(alwaysSynchronizes);
  if (wrong !== undefined) throw synchronizes(`${wrong.file}:${wrong.line}`, namesOf(keys, keptName));
  const code = opened && uuidCode(opened);
  const largest = keys.reduce((a, b) => (b.numbers.reserve > a.numbers.reserve ? b : a));
  // Twice the reserved numbers lie below the new IDs: rows may also come while the migration runs.
  const proposal = proposeLayout(2n * largest.numbers.reserve, wish, now);
  if (proposal === undefined) throw noRoom(largest, Object.keys(wish));
  const phases = uuids.phases(
    keys.map(({ numbers }) => numbers),
    proposal.floor,
  );
  const files = uuidMigrations(uuids, phases, proposal.options, now).map(({ suffix, text }) => ({
    migration: text,
    file: named(flags['write'] as string | undefined, suffix),
  }));
  if (!output.isJson)
    for (const line of [...remarks(keys, proposal, synchronize), ...uuidRemarks(code)]) output.note(line);
  output.interruption.check();
  for (const { file, migration } of files) if (file !== null) await writeNew(file, migration);
  const result = {
    database: uuids.database,
    keys: keys.map(({ key, rows, about }) => ({ ...typed(key), rows, order: about, keeps: keptName(key) })),
    references: keys.flatMap(({ references }) => references.map(typed)),
    code,
    synchronize,
    firstNewId: proposal.floor,
    options: proposal.options,
    plan: proposal.plan,
    migrations: files,
  };
  await output.result(result, () => files.map(({ file, migration }) => file ?? migration.trimEnd()));
}

/** A key, the order in which its rows were created, and their numbers. */
interface OrderedKey extends UuidKey {
  readonly rows: bigint;
  /** The order, for people. */
  readonly about: string;
  readonly numbers: Numbers;
}

function uuidRemarks(found: readonly BreakingCode[] | null): string[] {
  if (found === null || found.length === 0) return [];
  return [
    `check these ${found.length} places of the project, and tokens that contain keys: they contain UUIDs until they expire:`,
    ...found.map(({ file, line, column, code, why }) => `${file}:${line}:${column} ${code}: ${why}`),
  ];
}

function noRoom({ key, rows }: OrderedKey, wishes: readonly string[]): CommandFailedError {
  return new CommandFailedError(
    `${key.table} has ${rows} rows, whose numbers, and those of later rows, must be smaller than the new IDs. No layout` +
      `${wishes.length > 0 ? ` with the given ${wishes.join(', ')}` : ''} has room for them and lasts 20 years: give an earlier --start`,
  );
}

function named(file: string | undefined, suffix: string): string | null {
  if (file === undefined) return null;
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)}${suffix}${extension}`;
}

function remarks(
  keys: readonly OrderedKey[],
  proposal: Proposal,
  synchronize: readonly Synchronizing[] | null,
): string[] {
  const columns = keys.flatMap(({ key, references }) => [key, ...references]);
  return [
    ...keys.flatMap(keyRemarks),
    `new IDs begin at ${proposal.floor}: all are larger than the numbers. A number does not contain the time of its row`,
    `change to bigint: ${columns.map(placeOf).join(', ')}; the UUIDs are kept in ${namesOf(keys, keptName)}`,
    ...proposalRemarks(proposal),
    `entity: ${namesOf(keys, ({ column }) => `@GeneratedSnowflake() ${column}!: string`)}`,
    'set synchronize: false before the first migration: a start would drop the columns that no entity declares',
    ...synchronizeRemarks(synchronize),
    'two migrations: the application may write while the first one runs; stop it before the second, then start the new version',
    'nothing was changed: read the migrations, try them on a copy, run them with --transaction none',
  ];
}

function keyRemarks({ key, following, rows, first, about }: OrderedKey): string[] {
  return [
    `${placeOf(key)} is ${key.type}, with ${rows} rows: numbers begin at ${first}, ordered ${about}`,
    ...following.map(
      (each) =>
        `${placeOf(each)} refers to ${placeOf(key)}: it gets the numbers of that key, and no ${keptName(each)} of its own`,
    ),
  ];
}

/** Table, name and type of a column, for the result. */
function typed({ table, column, type }: TypedColumn): TypedColumn {
  return { table, column, type };
}

function placeOf({ table, column }: TypedColumn): string {
  return `${table}.${column}`;
}

/** A name for each key; one that several keys share is listed once. */
function namesOf(keys: readonly OrderedKey[], name: (key: TypedColumn) => string): string {
  return [...new Set(keys.map(({ key }) => name(key)))].join(', ');
}
