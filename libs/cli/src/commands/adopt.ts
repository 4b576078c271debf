import type { LayoutOptions } from '@raindrop/core';
import { adoptionMigration } from '../adopt/adoption-migration.js';
import type { OldKey, OldKeys } from '../adopt/old-key.js';
import { breakingCode, type BreakingCode } from '../project/breaking-code.js';
import { KeyNames } from '../project/key-reader.js';
import {
  type LoneDataSource,
  loneDataSources,
  synchronizeRemarks,
  type Synchronizing,
  synchronizeSettings,
} from '../project/search-project.js';
import { openProject } from '../project/open-project.js';
import { type Proposal, proposalRemarks, proposeLayout } from '../adopt/propose-layout.js';
import { readOldKeys } from '../adopt/read-old-key.js';
import { CommandFailedError, InputError } from '../input-error.js';
import { writeNew } from '../adopt/migration-text.js';
import type { CliOutput } from '../io/cli-output.js';
import { type FlagValues, layoutOptionsOf, moduleOptions } from '../options/module-options.js';
import { withOldest } from '../options/oldest-row.js';
import { numberOf } from '../options/option-flags.js';
import { adoptUuid } from './adopt-uuid.js';

/** Keys may stay JavaScript numbers when new IDs are exact numbers for this time, ms. */
const LASTING_MS = 20 * 365 * 86_400_000;

/**
 * `raindrop adopt`: plans the migration of tables with old keys to Raindrop IDs. It only reads; the user runs the printed
 * migration.
 */
export async function adopt(flags: FlagValues, output: CliOutput): Promise<void> {
  const options = moduleOptions(flags);
  if (options.layout !== undefined) throw new InputError('adopt proposes its own layout: remove --preset and --layout');
  if (options.dbConfig === undefined) throw new InputError('no database given: use --url or set DATABASE_URL');
  const from = flags['from'] as string;
  if (from !== 'number' && from !== 'uuid') throw new InputError(`--from "${from}": must be number or uuid`);
  if (from === 'uuid') return adoptUuid(options.dbConfig, wishOf(layoutOptionsOf(options), flags), flags, output);
  if (flags['orderBy'] !== undefined)
    throw new InputError('--order-by requires --from uuid: numbers are in order already');
  const now = Date.now();
  const old = await readOldKeys(options.dbConfig, flags['table'] as string, flags['column'] as string);
  const wish = wishOf(layoutOptionsOf(options), flags);
  const largest = old.keys.reduce((a, b) => (b.highest > a.highest ? b : a));
  const proposal = proposeLayout(largest.highest, wish, now);
  if (proposal === undefined) throw impossible(largest, Object.keys(wish));
  const migration = adoptionMigration(old, proposal, now);

  const project = flags['project'] as string | undefined;
  const opened = project === undefined ? null : openProject(project);
  const code = opened && breakingCode(opened, new KeyNames(old));
  const dataSources = opened && loneDataSources(opened);
  const synchronize = opened && synchronizeSettings(opened);

  const remarks = [
    ...adoptionRemarks(old, proposal, now),
    ...codeRemarks(code),
    ...dataSourceRemarks(dataSources),
    ...synchronizeAdvice(synchronize),
  ];
  if (!output.isJson) for (const line of remarks) output.note(line);
  const file = flags['write'] as string | undefined;
  output.interruption.check();
  if (file !== undefined) await writeNew(file, migration);
  const { database, keys, references, loose, obstacles, steps } = old;
  const result = {
    database,
    keys,
    references,
    loose,
    obstacles,
    highest: largest.highest,
    mustWiden: columnsToWiden(old),
    changes: steps.up,
    keepsNumbers: keepsNumbers(proposal, now),
    code,
    dataSources,
    synchronize,
    firstNewId: proposal.floor,
    options: proposal.options,
    plan: proposal.plan,
    migration,
    file: file ?? null,
  };
  await output.result(result, () => (file === undefined ? [migration.trimEnd()] : [file]));
}

function wishOf(layout: LayoutOptions, flags: FlagValues): Partial<LayoutOptions> {
  const count = (name: string): number => numberOf(flags[name] as string) as number;
  return {
    ...withOldest(layout, flags),
    ...(flags['nodes'] !== undefined && { expectedNodes: count('nodes') }),
    ...(flags['need'] !== undefined && { expectedIdsPerSecond: count('need') }),
  };
}

function impossible({ table, column, highest }: OldKey, wishes: readonly string[]): CommandFailedError {
  const share = Number((highest * 100n) >> 63n);
  if (wishes.length > 0) {
    return new CommandFailedError(
      `no layout with the given ${wishes.join(', ')} issues IDs above ${highest}, the largest key of ${table}.${column}, and ` +
        `lasts 20 years: remove some of these options`,
    );
  }
  return new CommandFailedError(
    `no layout issues IDs above ${highest}, the largest key of ${table}.${column}, and lasts 20 years: the old keys use ` +
      `${share} % of the range of an ID. Give the table a new key column, or use a layout whose IDs are smaller than the ` +
      `old keys, if none of them can equal an old key`,
  );
}

/** Whether the new IDs are exact JavaScript numbers for 20 years, so that an application may keep keys as numbers. */
function keepsNumbers({ plan: { safeUntil } }: Proposal, nowMs: number): boolean {
  return safeUntil === null || Date.parse(safeUntil) - nowMs >= LASTING_MS;
}

/** The columns that are not bigint yet, as `table.column`. */
function columnsToWiden({ keys, references }: OldKeys): string[] {
  const isWide = (each: string): boolean => /^bigint(\(\d+\))?$/.test(each);
  const columns = [...keys, ...references].filter((each) => !isWide(each.type));
  return columns.map((each) => `${each.table}.${each.column}`);
}

/** The remarks beside the migration, a sentence each. */
function adoptionRemarks(old: OldKeys, proposal: Proposal, nowMs: number): string[] {
  const { plan, floor } = proposal;
  const widen = columnsToWiden(old);
  return [
    ...old.keys.map(keyRemark),
    `new IDs begin at ${floor}: all are larger than the old keys`,
    widen.length === 0 ? 'all columns are bigint already' : `change to bigint: ${widen.join(', ')}`,
    ...proposalRemarks(proposal),
    ...plan.warnings.map(({ code, message }) => `warning: ${message} (${code})`),
    ...old.obstacles.map((each) => `warning: ${each}`),
    ...looseRemark(old),
    ...propertyRemarks(old.keys, keepsNumbers(proposal, nowMs)),
    'nothing was changed: read the migration, try it on a copy, stop the programs that insert, run it',
  ];
}

/** The places in the application's code that break when keys become strings; none when the code was not read. */
function codeRemarks(found: readonly BreakingCode[] | null): string[] {
  if (found === null) return [];
  if (found.length === 0) return ['found no code in the project that breaks when keys become strings'];
  return [
    `if keys become strings, check these ${found.length} places of the project; if they stay numbers, only @PrimaryGeneratedColumn():`,
    ...found.map(({ file, line, column, code, why }) => `${file}:${line}:${column} ${code}: ${why}`),
  ];
}

/** The DataSources in which an insert would fail, because Raindrop is not imported. */
function dataSourceRemarks(found: readonly LoneDataSource[] | null): string[] {
  return (found ?? []).map(
    ({ file, line }) =>
      `${file}:${line} creates a DataSource without Raindrop: import RaindropModule there too if it inserts into these tables`,
  );
}

/** The places that let TypeORM change the tables; nothing is said when there are none, or the code was not read. */
function synchronizeAdvice(found: readonly Synchronizing[] | null): string[] {
  const places = synchronizeRemarks(found);
  const advice = 'set synchronize: false before an entity changes: TypeORM would drop the key, and Raindrop stops it';
  return places.length === 0 ? [] : [advice, ...places];
}

function keyRemark({ table, column, type, isGenerated, highest }: OldKey): string {
  return `${table}.${column} is ${type}${isGenerated ? ', generated by the database' : ''}; its largest key is ${highest}`;
}

function looseRemark({ loose }: OldKeys): string[] {
  if (loose.length === 0) return [];
  const names = loose.map(
    ({ table, column, perhaps }) => `${table}.${column}${perhaps ? ` (perhaps ${perhaps})` : ''}`,
  );
  return [
    `warning: these columns look like references but have no foreign key, and are not changed: ${names.join(', ')}`,
  ];
}

function propertyRemarks(keys: readonly OldKey[], isNumber: boolean): string[] {
  const names = [...new Set(keys.map(({ column }) => column))];
  const asText = names.map((name) => `@GeneratedSnowflake() ${name}!: string`).join(', ');
  if (!isNumber) return [`entity: ${asText}`];
  const asNumber = names.map((name) => `@GeneratedSnowflake({ as: 'number' }) ${name}!: number`).join(', ');
  return [`entity, if keys stay numbers: ${asNumber}`, `entity, if keys become strings: ${asText}`];
}
