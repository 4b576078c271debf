import { codecs, isCodecName, type CodecName } from '@raindrop/core';
import type { CliOutput } from '../io/cli-output.js';
import { Progress } from '../io/progress.js';
import { showNumber } from '../io/show-number.js';
import { InputError } from '../input-error.js';
import { moduleOptions, type FlagValues } from '../options/module-options.js';
import { resolveWorkers } from '../service/open-workers.js';
import { withIdService } from '../service/with-id-service.js';
import { unknownFormat } from './decode.js';

const MOST = 1_000_000_000;

/** So many are made, written and forgotten at a time: no slice holds the event loop for long. */
const SLICE = 1_000;

/** `raindrop next`: leases a worker id, issues, gives it back. */
export async function next(flags: FlagValues, output: CliOutput): Promise<void> {
  const count = countOf(flags['count'] as string);
  const format = formatOf((flags['format'] as string | undefined) ?? 'decimal');
  const code = flags['code'] as string | undefined;
  const options = moduleOptions(flags);
  resolveWorkers(options, true);
  const encode = codecs[format].encode;

  await withIdService(options, output, async (ids) => {
    const { signal } = output.interruption;
    const progress = new Progress(output);
    if (output.isJson) await output.write(`{"workerId":${ids.workerId},"format":"${format}","ids":[`);
    try {
      for (let done = 0; done < count;) {
        output.interruption.check();
        const slice = await ids.nextIdsAsync(Math.min(SLICE, count - done), code, { signal });
        const texts = slice.map(encode);
        await output.write(output.isJson ? jsonPart(texts, done === 0) : `${texts.join('\n')}\n`);
        done += slice.length;
        progress.show(done / count, `${showNumber(done)} of ${showNumber(count)}`);
        // Timers and signals have their turn.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      progress.end();
    }
    if (output.isJson) await output.write(']}\n');
  });
}

function jsonPart(texts: readonly string[], isFirst: boolean): string {
  return `${isFirst ? '' : ','}${texts.map((text) => `"${text}"`).join(',')}`;
}

function countOf(text: string): number {
  const count = Number(text);
  if (/^\d{1,10}$/.test(text) && count >= 1 && count <= MOST) return count;
  throw new InputError(`--count ${text} must be a number from 1 to ${showNumber(MOST)}`);
}

function formatOf(name: string): CodecName {
  if (!isCodecName(name)) throw unknownFormat(name);
  return name;
}
