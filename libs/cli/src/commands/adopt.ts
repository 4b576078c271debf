import type { LayoutOptions } from '@raindrop/core';
import { adoptionMigration } from '../adopt/adoption-migration.js';
import { adoptionRemarks, codeRemarks, columnsToWiden, dataSourceRemarks, keepsNumbers } from './adoption-remarks.js';
import type { OldKey } from '../adopt/old-key.js';
import { breakingCode } from '../project/breaking-code.js';
import { KeyNames } from '../project/key-names.js';
import { loneDataSources } from '../project/lone-data-sources.js';
import { openProject } from '../project/open-project.js';
import { proposeLayout } from '../adopt/propose-layout.js';
import { readOldKeys } from '../adopt/read-old-key.js';
import { CommandFailedError, InputError } from '../input-error.js';
import { writeNew } from '../adopt/write-new.js';
import type { CliOutput } from '../io/cli-output.js';
import { adoptUuid } from './adopt-uuid.js';
import { layoutOptionsOf, moduleOptions, type FlagValues } from '../options/module-options.js';
import { numberOf } from '../options/option-flags.js';

/** `raindrop adopt`: how the keys of tables go over to Raindrop. It reads; the migration that it prints is run by you. */
export async function adopt(flags: FlagValues, output: CliOutput): Promise<void> {
  const options = moduleOptions(flags);
  if (options.layout !== undefined)
    throw new InputError('adopt proposes a layout of its own: leave --preset and --layout out');
  if (options.dbConfig === undefined) throw new InputError('which database? Give --url or DATABASE_URL');
  const from = flags['from'] as string;
  if (from !== 'number' && from !== 'uuid') throw new InputError(`--from "${from}": must be number or uuid`);
  if (from === 'uuid') return adoptUuid(options.dbConfig, wishOf(layoutOptionsOf(options), flags), flags, output);
  if (flags['orderBy'] !== undefined) throw new InputError('--order-by is for --from uuid: numbers have an order');
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

  const remarks = [...adoptionRemarks(old, proposal, now), ...codeRemarks(code), ...dataSourceRemarks(dataSources)];
  if (!output.isJson) for (const line of remarks) output.note(line);
  const file = flags['write'] as string | undefined;
  output.interruption.check();
  if (file !== undefined) await writeNew(file, migration);
  const { database, keys, references, loose, obstacles, steps } = old;
  const result = {
    ...{ database, keys, references, loose, obstacles },
    highest: largest.highest,
    mustWiden: columnsToWiden(old),
    changes: steps.up,
    keepsNumbers: keepsNumbers(proposal, now),
    code,
    dataSources,
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
