import { extname } from 'node:path';
import type { LayoutOptions } from '@raindrop/core';
import { proposeLayout, type Proposal } from '../adopt/propose-layout.js';
import { readUuidKey } from '../adopt/uuid/read-uuid-key.js';
import { uuidMigrations } from '../adopt/uuid/uuid-migration.js';
import { synchronizes } from '../adopt/uuid/uuid-refusals.js';
import type { BreakingCode } from '../project/breaking-code.js';
import { openProject } from '../project/open-project.js';
import { synchronizeSettings, uuidCode } from '../project/uuid-code.js';
import type { UuidKey } from '../adopt/uuid/uuid-key.js';
import { writeNew } from '../adopt/write-new.js';
import { CommandFailedError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { showNumber } from '../io/show-number.js';
import type { FlagValues } from '../options/module-options.js';

/** So many rows may come before the migration runs, beside as many as there are. */
const SPARE = 1_000_000n;

/** `raindrop adopt --from uuid`: two migrations that give the rows of a table numbers in place of their UUIDs. */
export async function adoptUuid(
  url: unknown,
  wish: Partial<LayoutOptions>,
  flags: FlagValues,
  output: CliOutput,
): Promise<void> {
  const now = Date.now();
  const [table, column] = [flags['table'] as string, flags['column'] as string];
  const { uuid, order } = await readUuidKey(url, table, column, flags['orderBy'] as string | undefined);
  const project = flags['project'] as string | undefined;
  const opened = project === undefined ? null : openProject(project);
  const [wrong] = opened === null ? [] : synchronizeSettings(opened);
  if (wrong !== undefined) throw synchronizes(`${wrong.file}:${wrong.line}`, `${uuid.key.column}_uuid`);
  const code = opened && uuidCode(opened);
  const reserve = uuid.first + 2n * order.rows + SPARE;
  // Rows may come while it runs: as many again have room.
  const proposal = proposeLayout(2n * reserve, wish, now);
  if (proposal === undefined) throw noRoom(uuid, order.rows, Object.keys(wish));
  const phases = uuid.phases({ order: order.sql, reserve, floor: proposal.floor });
  const files = uuidMigrations(uuid, phases, proposal.options, now).map(({ suffix, text }) => ({
    migration: text,
    file: named(flags['write'] as string | undefined, suffix),
  }));
  if (!output.isJson) for (const line of [...remarks(uuid, order, proposal), ...uuidRemarks(code)]) output.note(line);
  output.interruption.check();
  for (const { file, migration } of files) if (file !== null) await writeNew(file, migration);
  const { key, references, database } = uuid;
  const result = {
    ...{ database, key, references, rows: order.rows, order: order.about, keeps: `${key.column}_uuid` },
    code,
    ...{ firstNewId: proposal.floor, options: proposal.options, plan: proposal.plan, migrations: files },
  };
  await output.result(result, () => files.map(({ file, migration }) => file ?? migration.trimEnd()));
}

function uuidRemarks(found: readonly BreakingCode[] | null): string[] {
  if (found === null || found.length === 0) return [];
  return [
    `look at these ${found.length} places of the project, and at tokens that carry keys, which hold UUIDs until they end:`,
    ...found.map(({ file, line, column, code, why }) => `${file}:${line}:${column} ${code}: ${why}`),
  ];
}

function noRoom({ key }: UuidKey, rows: bigint, wishes: readonly string[]): CommandFailedError {
  return new CommandFailedError(
    `${key.table} has ${rows} rows, and below the IDs that ${wishes.length > 0 ? `a layout with ${wishes.join(', ')}` : 'any layout'} ` +
      `issues at this moment there are not numbers enough for them and for those to come, or it does not last for 20 years: ` +
      'give an earlier --start',
  );
}

function named(file: string | undefined, suffix: string): string | null {
  if (file === undefined) return null;
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)}${suffix}${extension}`;
}

function remarks(
  { key, references, first }: UuidKey,
  order: { readonly rows: bigint; readonly about: string },
  { options, floor, plan }: Proposal,
): string[] {
  return [
    `${key.table}.${key.column} is ${key.type}, with ${order.rows} rows: they are numbered from ${first} on, ${order.about}`,
    `new IDs begin at ${floor}: all numbers are below. The bits of the numbers do not tell their time`,
    `to bigint: ${[key, ...references].map((each) => `${each.table}.${each.column}`).join(', ')}; the UUIDs stay in ${key.column}_uuid`,
    `options for the module: ${JSON.stringify(options)}`,
    `they last until ${plan.expiresAt ?? 'beyond the year 275760'}; exact JavaScript numbers until ${plan.safeUntil ?? 'then'}`,
    `rate: ${showNumber(plan.idsPerSecond)} IDs a second of each worker; workers ${plan.workers.min} to ${plan.workers.max}`,
    `in the entity: @GeneratedSnowflake() ${key.column}!: string`,
    'set synchronize: false before the first one: a start would drop the columns that no entity names',
    'two migrations: the application may write while the first one runs; stop it before the second, start the new version after',
    'nothing was changed: read the migrations, try them on a copy, run them with --transaction none',
  ];
}
