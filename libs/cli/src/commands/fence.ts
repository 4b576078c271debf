import { fenceWorkers } from '@raindrop/node';
import { InputError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { showDuration } from '../io/show-number.js';
import { moduleOptions, type FlagValues } from '../options/module-options.js';
import { explained, onExistingFile, resolveWorkers, viewWorkers } from '../service/open-workers.js';
import { countsOf } from './worker-counts.js';

/** `raindrop fence`: makes a table safe that was restored from a backup. Refuses without `--yes`. */
export async function fence(flags: FlagValues, output: CliOutput): Promise<void> {
  const given = moduleOptions(flags);
  const options = resolveWorkers(given);
  const { maxClockSkewMs, horizonMs } = options.lease;
  if (flags['yes'] !== true) {
    const { workers } = await viewWorkers(given, options);
    const { held, foreign } = countsOf(workers);
    throw new InputError(
      `fence would free all ${workers.length - foreign} rows of ${options.tableName}, ${held} of them held, and bar them ` +
        `for ${showDuration(maxClockSkewMs + horizonMs)}: nothing issues IDs until then. ${othersOf(foreign)}Say --yes to do it`,
    );
  }
  const { rows, foreign, barredMs } = await explained(options, fenceWorkers(onExistingFile(given)));
  if (foreign !== 0 && !output.isJson) output.note(othersOf(foreign).trim());
  await output.result({ table: options.tableName, rows, foreign, barredMs }, () => [
    `${rows} rows of ${options.tableName} freed; none can be acquired for ${showDuration(barredMs)}`,
  ]);
}

/** What no fence reaches. */
function othersOf(foreign: number | null): string {
  if (foreign === 0) return '';
  const rows = foreign === null ? 'Rows that cannot be read' : `${foreign} rows`;
  return `${rows} may belong to programs other than Raindrop, which no fence stops: end those first. `;
}
