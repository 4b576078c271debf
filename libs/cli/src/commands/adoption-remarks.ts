import { showNumber } from '../io/show-number.js';
import type { BreakingCode } from '../project/breaking-code.js';
import type { LoneDataSource } from '../project/lone-data-sources.js';
import type { OldKey, OldKeys } from '../adopt/old-key.js';
import type { Proposal } from '../adopt/propose-layout.js';

/** As long as that, and keys that are numbers may stay numbers. */
const LASTING_MS = 20 * 365 * 86_400_000;

/** Whether the new IDs are exact JavaScript numbers for decades, so that an application may keep them as numbers. */
export function keepsNumbers({ plan: { safeUntil } }: Proposal, nowMs: number): boolean {
  return safeUntil === null || Date.parse(safeUntil) - nowMs >= LASTING_MS;
}

/** `table.column` of each column that is not bigint yet. */
export function columnsToWiden({ keys, references }: OldKeys): string[] {
  const isWide = (each: string): boolean => /^bigint(\(\d+\))?$/.test(each);
  const columns = [...keys, ...references].filter((each) => !isWide(each.type));
  return columns.map((each) => `${each.table}.${each.column}`);
}

/** What people are told beside the migration, a sentence each. */
export function adoptionRemarks(old: OldKeys, proposal: Proposal, nowMs: number): string[] {
  const { options, plan, floor } = proposal;
  const widen = columnsToWiden(old);
  return [
    ...old.keys.map(keyRemark),
    `new IDs begin at ${floor}: all of them sort after the old ones`,
    widen.length === 0 ? 'all columns are bigint already' : `to bigint: ${widen.join(', ')}`,
    `options for the module: ${JSON.stringify(options)}`,
    `they last until ${plan.expiresAt ?? 'beyond the year 275760'}; exact JavaScript numbers until ${plan.safeUntil ?? 'then'}`,
    `rate: ${showNumber(plan.idsPerSecond)} IDs a second of each worker; workers ${plan.workers.min} to ${plan.workers.max}`,
    ...plan.warnings.map(({ code, message }) => `warning: ${message} (${code})`),
    ...old.obstacles.map((each) => `warning: ${each}`),
    ...looseRemark(old),
    ...propertyRemarks(old.keys, keepsNumbers(proposal, nowMs)),
    'nothing was changed: read the migration, try it on a copy, stop the programs that insert, run it',
  ];
}

/** What the application's code has against texts; nothing when it was not read. */
export function codeRemarks(found: readonly BreakingCode[] | null): string[] {
  if (found === null) return [];
  if (found.length === 0) return ['in the project nothing was found that breaks when keys become texts'];
  return [
    `when keys become texts, look at these ${found.length} places of the project (keys that stay numbers: at @PrimaryGeneratedColumn() alone):`,
    ...found.map(({ file, line, column, code, why }) => `${file}:${line}:${column} ${code}: ${why}`),
  ];
}

/** What an insert would fail without, whatever keys are. */
export function dataSourceRemarks(found: readonly LoneDataSource[] | null): string[] {
  return (found ?? []).map(
    ({ file, line }) =>
      `${file}:${line} makes a DataSource without Raindrop: import RaindropModule there too if it inserts into these tables`,
  );
}

function keyRemark({ table, column, type, isGenerated, highest }: OldKey): string {
  return `${table}.${column} is ${type}${isGenerated ? ', made by the database' : ''}; its largest key is ${highest}`;
}

function looseRemark({ loose }: OldKeys): string[] {
  if (loose.length === 0) return [];
  const names = loose.map(
    ({ table, column, perhaps }) => `${table}.${column}${perhaps ? ` (perhaps ${perhaps})` : ''}`,
  );
  return [`warning: no foreign key says what these hold, and they stay as they are: ${names.join(', ')}`];
}

function propertyRemarks(keys: readonly OldKey[], isNumber: boolean): string[] {
  const names = [...new Set(keys.map(({ column }) => column))];
  const asText = names.map((name) => `@GeneratedSnowflake() ${name}!: string`).join(', ');
  if (!isNumber) return [`in the entity: ${asText}`];
  const asNumber = names.map((name) => `@GeneratedSnowflake({ as: 'number' }) ${name}!: number`).join(', ');
  return [`in the entity, keys stay numbers: ${asNumber}`, `or they become texts: ${asText}`];
}
