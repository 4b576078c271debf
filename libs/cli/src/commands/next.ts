import { existsSync } from 'node:fs';
import { codecs, type CodecName } from '@raindrop/core';
import { isCodecName } from '@raindrop/core/internal';
import { databaseSettingsOf, type IdService, type IdServiceStatus, type SnowflakeModuleOptions } from '@raindrop/node';
import { isFileDatabase } from '@raindrop/node/internal';
import type { CliOutput } from '../io/cli-output.js';
import { Progress } from '../io/progress.js';
import { showNumber } from '../io/text.js';
import { InputError } from '../input-error.js';
import { moduleOptions, type FlagValues } from '../options/module-options.js';
import { mayRepeat, refuseUnreserved, requireReachable, resolveWorkers } from '../service/open-workers.js';
import { withIdService } from '../service/with-id-service.js';
import { unknownFormat } from '../decoding/readers.js';

/** The most IDs of one call. */
const MOST = 1_000_000_000;

/** So many IDs are issued and written at a time: no slice holds the event loop for long. */
const SLICE = 1_000;

interface Wish {
  readonly count: number;
  readonly format: CodecName;
  readonly code: string | undefined;
}

/** `raindrop next`: leases a worker id, issues IDs, gives the worker id back. */
export async function next(flags: FlagValues, output: CliOutput): Promise<void> {
  const wish: Wish = {
    count: countOf(flags['count'] as string),
    format: formatOf((flags['format'] as string | undefined) ?? 'decimal'),
    code: codeOf(flags['code'] as string | undefined),
  };
  // A database in memory ends with the command: the next command would issue the same IDs.
  const options: SnowflakeModuleOptions = { ...moduleOptions(flags) };
  delete options.allowVolatile;
  const resolved = resolveWorkers(options);
  refuseUnreserved(resolved);
  warnOfNewFile(options, output);
  await requireReachable(options, resolved);
  await withIdService(options, output, async (ids) => {
    // A file of options may ask for numbers from segments.
    const status = ids.status() as IdServiceStatus;
    const isReserved = 'guarantee' in status && (status.guarantee === 'reserved' || status.guarantee === 'fresh');
    if (!isReserved) throw mayRepeat('assigner' in status ? status.assigner : status.service);
    await issue(ids, wish, output);
  });
}

async function issue(ids: IdService, { count, format, code }: Wish, output: CliOutput): Promise<void> {
  const { interruption, isJson } = output;
  const { encode } = codecs[format];
  const progress = new Progress(output);
  let done = 0;
  try {
    while (done < count) {
      interruption.check();
      const wanted = Math.min(SLICE, count - done);
      const slice = await ids.nextIdsAsync(wanted, code, { signal: interruption.signal });
      const texts = slice.map(encode);
      // A line for each slice: a reader such as `decode` need not hold the whole document.
      const head = done === 0 ? `{"workerId":${ids.workerId},"format":"${format}","ids":[` : ',\n';
      done += slice.length;
      await output.write(isJson ? `${head}${texts.map((text) => `"${text}"`).join(',')}` : `${texts.join('\n')}\n`);
      // On a terminal that shows the IDs themselves, no progress is drawn between them.
      if (!output.showsResults) progress.count(done, count);
      // Timers and signals get a turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    progress.end();
    // A result that ends early is one JSON document as well.
    if (isJson && done > 0) output.finish(']}\n');
  }
}

/** SQLite creates a file of a mistyped name, and the rows in it know nothing of IDs that were issued before. */
function warnOfNewFile(options: SnowflakeModuleOptions, output: CliOutput): void {
  const { type, database: file = '' } = databaseSettingsOf(options.dbConfig) ?? {};
  if (!isFileDatabase(type) || /^file:|:memory:/.test(file) || existsSync(file)) return;
  output.warn(`creating ${file}, which does not exist: a new worker table may repeat IDs that another one has issued`);
}

function countOf(text: string): number {
  const count = Number(text);
  if (/^\d{1,10}$/.test(text) && count >= 1 && count <= MOST) return count;
  throw new InputError(`--count ${text} must be a number from 1 to ${showNumber(MOST)}`);
}

function codeOf(text: string | undefined): string | undefined {
  if (text === undefined || (text.length >= 1 && text.length <= 128)) return text;
  throw new InputError(`--code has ${text.length} characters: it must have 1 to 128`);
}

function formatOf(name: string): CodecName {
  if (!isCodecName(name)) throw unknownFormat(name);
  return name;
}
