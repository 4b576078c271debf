import { RaindropError } from '@raindrop/core';
import { generatorOptions, layoutOptions } from '@raindrop/core/internal';
import type { IdService, SnowflakeModuleOptions } from '@raindrop/node';
import { InputError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { Progress } from '../io/progress.js';
import { showDuration, showNumber, textTable } from '../io/text.js';
import { moduleOptions, namesLayout, refuseUnknown, type FlagValues } from '../options/module-options.js';
import { withIdService } from '../service/with-id-service.js';

/** The default layout of the measurement. It has room for more IDs than any machine can issue. */
const WIDE = {
  timeUnit: 'second',
  startTimeStamp: '2026-01-01',
  timeStampLength: 31,
  workIdLength: 3,
  endBitsLength: 1,
} as const;

/** The IDs of a batch. */
const BATCH = 1_000;

/** The single calls between two reads of the clock. */
const SLICE = 256;

interface Measured {
  readonly what: string;
  readonly ids: number;
  readonly ms: number;
  readonly idsPerSecond: number;
}

/** The options on which a measurement depends: the bits, and how IDs are issued. */
const MEASURED = [...Object.keys(layoutOptions), 'layout', ...Object.keys(generatorOptions), 'clock'];

/**
 * `raindrop bench`: measures IDs a second in this process. The worker rows are in memory, whatever database the options
 * name: on the table of a service the measured layout would count as a layout of that table from then on.
 */
export async function bench(flags: FlagValues, output: CliOutput): Promise<void> {
  const seconds = Number(flags['seconds']);
  if (!(seconds >= 0.1 && seconds <= 600)) throw new InputError('--seconds must be a number from 0.1 to 600');
  const options = benchOptions(moduleOptions(flags));
  const measured = await withIdService(options, output, (ids) => measure(ids, (seconds * 1_000) / 2, output));
  const capacity = measured.layout.idsPerSecond;
  const result = {
    node: process.version,
    fingerprint: measured.layout.fingerprint,
    capacity,
    results: measured.results,
  };
  await output.result(result, () => [
    ...textTable([
      ['', 'IDs/s', 'of the layout'],
      ...measured.results.map(({ what, idsPerSecond }) => [
        ...[
          what,
          showNumber(Math.round(idsPerSecond)),
          `${Math.min(100, Math.round((idsPerSecond / capacity) * 100))} %`,
        ],
      ]),
    ]),
    `Node ${process.version}, layout ${measured.layout.fingerprint}: ${showNumber(capacity)} IDs/s at most`,
  ]);
}

function benchOptions(given: SnowflakeModuleOptions): SnowflakeModuleOptions {
  refuseUnknown(given);
  const measured: SnowflakeModuleOptions = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => MEASURED.includes(name) && value !== undefined),
  );
  const options = namesLayout(given) ? measured : { ...measured, ...WIDE };
  return { ...options, dbConfig: 'sqlite::memory:', allowVolatile: true };
}

async function measure(
  ids: IdService,
  ms: number,
  output: CliOutput,
): Promise<{ layout: IdService['layout']; results: Measured[] }> {
  const progress = new Progress(output);
  const show = (share: number, how: string): void =>
    progress.show(share, () => `${how}, ${showDuration(Math.ceil(((1 - share) * 2 * ms) / 1_000) * 1_000)} left`);
  const { signal } = output.interruption;
  // The last ID is stored, so that the compiler cannot leave the calls out.
  const last = { id: 0n };
  const single = async (): Promise<number> => {
    for (let done = 0; done < SLICE; done++) {
      try {
        last.id = ids.nextId();
      } catch (error) {
        if (!(error instanceof RaindropError) || !error.retryable) throw error;
        await ids.nextIdAsync(undefined, { signal });
        return done + 1;
      }
    }
    return SLICE;
  };
  const batch = async (): Promise<number> => (await ids.nextIdsAsync(BATCH, undefined, { signal })).length;
  try {
    return {
      layout: ids.layout,
      results: [
        await run('nextId()', single, ms, output, (share) => show(share / 2, 'one by one')),
        await run(`nextIdsAsync(${BATCH})`, batch, ms, output, (share) => show(0.5 + share / 2, 'in batches')),
      ],
    };
  } finally {
    progress.end();
  }
}

async function run(
  what: string,
  slice: () => Promise<number>,
  ms: number,
  output: CliOutput,
  show: (share: number) => void,
): Promise<Measured> {
  const began = performance.now();
  const until = began + ms;
  let ids = 0;
  let yieldedAt = began;
  for (;;) {
    ids += await slice();
    const now = performance.now();
    if (now >= until) return { what, ids, ms: now - began, idsPerSecond: (ids * 1_000) / (now - began) };
    if (now - yieldedAt < 1) continue;
    // Timers, renewals and signals get a turn every millisecond.
    await new Promise((resolve) => setImmediate(resolve));
    output.interruption.check();
    show((now - began) / ms);
    yieldedAt = performance.now();
  }
}
