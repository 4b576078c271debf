import { writeFile } from 'node:fs/promises';
import type { LayoutOptions } from '@raindrop/core';
import { adoptionMigration } from '../adopt/adoption-migration.js';
import type { OldKey } from '../adopt/old-key.js';
import { proposeLayout, type Proposal } from '../adopt/propose-layout.js';
import { readOldKey } from '../adopt/read-old-key.js';
import { CommandFailedError, InputError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { layoutOptionsOf, moduleOptions, type FlagValues } from '../options/module-options.js';
import { numberOf } from '../options/option-flags.js';

/** `raindrop adopt`: how a table's keys go over to Raindrop. It reads; the migration that it prints is run by you. */
export async function adopt(flags: FlagValues, output: CliOutput): Promise<void> {
  const options = moduleOptions(flags);
  if (options.layout !== undefined) throw new InputError('adopt proposes a layout of its own: leave --preset out');
  if (options.dbConfig === undefined) throw new InputError('which database? Give --url or DATABASE_URL');
  const now = Date.now();
  const key = await readOldKey(options.dbConfig, flags['table'] as string, flags['column'] as string);
  const wish = wishOf(layoutOptionsOf(options), flags);
  const proposal = proposeLayout(key.highest, wish, now);
  if (proposal === undefined) throw impossible(key, Object.keys(wish));
  const migration = adoptionMigration(key, proposal, now);

  if (!output.isJson) for (const line of remarks(key, proposal)) output.note(line);
  const file = flags['write'] as string | undefined;
  output.interruption.check();
  if (file !== undefined) await write(file, migration);
  const { steps, ...facts } = key;
  const result = {
    ...facts,
    mustWiden: columnsToWiden(key),
    changes: steps.up,
    ...{ firstNewId: proposal.floor, options: proposal.options, plan: proposal.plan, migration, file: file ?? null },
  };
  await output.result(result, () => (file === undefined ? [migration.trimEnd()] : [file]));
}

function wishOf(layout: LayoutOptions, flags: FlagValues): Partial<LayoutOptions> {
  const count = (name: string): number => numberOf(flags[name] as string) as number;
  return {
    ...layout,
    ...(flags['nodes'] !== undefined && { expectedNodes: count('nodes') }),
    ...(flags['need'] !== undefined && { expectedIdsPerSecond: count('need') }),
  };
}

function impossible({ table, column, highest }: OldKey, wishes: readonly string[]): CommandFailedError {
  const share = Number((highest * 100n) >> 63n);
  if (wishes.length > 0) {
    return new CommandFailedError(
      `no layout with ${wishes.join(', ')} as given has IDs above ${table}.${column}'s largest key, ${highest}, and lasts ` +
        `for 20 years: leave some of them out`,
    );
  }
  return new CommandFailedError(
    `no layout gives IDs above ${table}.${column}'s largest key, ${highest}, and lasts for 20 years: of the 63 bits of an ` +
      `ID ${share} % are used up. Give the table a new key column, or let new IDs sort before old ones where no layout ` +
      `of the old keys can meet them`,
  );
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InputError(`--write ${file}: ${code === 'EEXIST' ? 'the file is there already' : String(code)}`);
  }
}

function columnsToWiden({ table, column, type, references }: OldKey): string[] {
  const isWide = (each: string): boolean => /^bigint(\(\d+\))?$/.test(each);
  return [{ table, column, type }, ...references]
    .filter((each) => !isWide(each.type))
    .map((each) => `${each.table}.${each.column}`);
}

function remarks(key: OldKey, { options, plan, floor }: Proposal): string[] {
  const widen = columnsToWiden(key);
  return [
    `${key.table}.${key.column} is ${key.type}${key.isGenerated ? ', made by the database' : ''}; its largest key is ${key.highest}`,
    `new IDs begin at ${floor}: all of them sort after the old ones`,
    widen.length === 0 ? 'all columns are bigint already' : `to bigint: ${widen.join(', ')}`,
    `options for the module: ${JSON.stringify(options)}`,
    `they last until ${plan.expiresAt ?? 'beyond the year 275760'}; exact JavaScript numbers until ${plan.safeUntil ?? 'then'}`,
    ...plan.warnings.map(({ code, message }) => `warning: ${message} (${code})`),
    ...key.obstacles.map((each) => `warning: ${each}`),
    `in the entity: @GeneratedSnowflake() ${key.column}!: string`,
    'nothing was changed: read the migration, try it on a copy, stop the programs that insert, run it',
  ];
}
