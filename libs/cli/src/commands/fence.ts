import { fenceWorkers } from '@raindrop/nestjs';
import { InputError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { showDuration } from '../io/show-number.js';
import { moduleOptions, type FlagValues } from '../options/module-options.js';
import { explained, onExistingFile, resolveWorkers, viewWorkers, withStandInLayout } from '../service/open-workers.js';
import { countsOf } from './worker-counts.js';

/** `raindrop fence`: makes a table safe that was restored from a backup. Refuses without `--yes`. */
export async function fence(flags: FlagValues, output: CliOutput): Promise<void> {
  const given = moduleOptions(flags);
  const options = resolveWorkers(given, false);
  const { maxClockSkewMs, horizonMs } = options.lease;
  if (flags['yes'] !== true) {
    const { workers } = await viewWorkers(given, options);
    throw new InputError(
      `fence would free all ${workers.length} rows of ${options.tableName}, ${countsOf(workers).held} of them held, and bar them ` +
        `for ${showDuration(maxClockSkewMs + horizonMs)}: nothing issues IDs until then. Say --yes to do it`,
    );
  }
  const { rows, barredMs } = await explained(options, fenceWorkers(onExistingFile(withStandInLayout(given))));
  await output.result({ table: options.tableName, rows, barredMs }, () => [
    `${rows} rows of ${options.tableName} freed; none can be acquired for ${showDuration(barredMs)}`,
  ]);
}
