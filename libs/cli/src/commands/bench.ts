import { randomBytes } from 'node:crypto';
import { type Layout, RaindropError } from '@raindrop/core';
import { DEFAULT_LAYOUT, generatorOptions, layoutOptions } from '@raindrop/core/internal';
import type { IdService, SnowflakeModuleOptions } from '@raindrop/node';
import { CommandFailedError, InputError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { Progress } from '../io/progress.js';
import { showDuration, showNumber, textTable } from '../io/text.js';
import { moduleOptions, namesLayout, refuseUnknown, type FlagValues } from '../options/module-options.js';
import { layoutMeant } from '../service/open-workers.js';
import { withIdService } from '../service/with-id-service.js';

/** A layout with room for more IDs than any machine can issue: it shows the limit of the machine. */
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

/** What one layout allows, and what this process made of it. */
interface MeasuredLayout {
  readonly fingerprint: string;
  /** IDs a second of one worker. */
  readonly capacity: number;
  readonly results: readonly Measured[];
}

/** The options on which a measurement depends: the bits, and how IDs are issued. */
const BITS = [...Object.keys(layoutOptions), 'layout'];
const ISSUING = [...Object.keys(generatorOptions), 'clock'];

/**
 * `raindrop bench`: measures IDs a second in this process, of the layout that a service with these options has, and of
 * one that only the machine limits. The worker rows are in memory, whatever database the options name: on the table of a
 * service the measured layouts would count as layouts of that table from then on.
 */
export async function bench(flags: FlagValues, output: CliOutput): Promise<void> {
  const seconds = Number(flags['seconds']);
  if (!(seconds >= 0.1 && seconds <= 600)) throw new InputError('--seconds must be a number from 0.1 to 600');
  const given = moduleOptions(flags);
  refuseUnknown(given);
  const bits = namesLayout(given) ? only(BITS, given) : { layout: await layoutOfTable(given) };
  const sliceMs = (seconds * 1_000) / 4;
  const own = await measureLayout({ ...only(ISSUING, given), ...bits }, sliceMs, output);
  const machine = await measureLayout({ ...only(ISSUING, given), ...WIDE }, sliceMs, output);
  await output.result({ node: process.version, ...own, machine }, () => [
    ...textTable([
      ['layout', 'IDs/s at most', ...own.results.map(({ what }) => what)],
      ...[own, machine].map(({ fingerprint, capacity, results }) => [
        ...[fingerprint, showNumber(capacity)],
        // A measurement of a few ticks can end after a burst, which no service keeps up.
        ...results.map(({ idsPerSecond }) => showNumber(Math.round(Math.min(idsPerSecond, capacity)))),
      ]),
    ]),
    `Node ${process.version}. A service with these options has the first layout. The second one has room for more IDs than`,
    'this machine can issue.',
  ]);
}

function only(names: readonly string[], given: SnowflakeModuleOptions): SnowflakeModuleOptions {
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => names.includes(name) && value !== undefined),
  );
}

/** The layout that a service without one takes: the table's, where the options name a database that has the table. */
async function layoutOfTable(given: SnowflakeModuleOptions): Promise<Layout> {
  try {
    return await layoutMeant('bench', only(['dbConfig', 'tableName'], given));
  } catch (error) {
    if (error instanceof CommandFailedError) return DEFAULT_LAYOUT;
    throw error;
  }
}

async function measureLayout(options: SnowflakeModuleOptions, ms: number, output: CliOutput): Promise<MeasuredLayout> {
  // Tables in memory are the process's: one that has served another layout would refuse this one.
  const tableName = `bench_${randomBytes(8).toString('hex')}`;
  const inMemory = { ...options, dbConfig: 'sqlite::memory:', tableName, allowVolatile: true };
  const { layout, results } = await withIdService(inMemory, output, (ids) => measure(ids, ms, output));
  return { fingerprint: layout.fingerprint, capacity: layout.idsPerSecond, results };
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
