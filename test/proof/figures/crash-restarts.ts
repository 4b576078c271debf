import { RaindropError, type LeaseEvent, type SnowflakeGenerator, type WorkerStore } from '@raindrop/core';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind } from '../../support/servers/test-databases.js';
import type { Bench, Figure, Measurement } from './figure.js';
import { MortalStore } from './mortal-store.js';
import { openWorker, type OpenedWorker } from './open-worker.js';

const RESTARTS = 200;
const IDS = 700;
const LEASE = { leaseMs: 150, heartbeatIntervalMs: 50, opTimeoutMs: 90, graceMs: 0 };

/** The whole takes less; ticks of hours and days end with the clock's hour. */
const ROOM_MS = 150_000;
const HOUR_MS = 3_600_000;
const PATIENCE_MS = 20_000;

const LAYOUTS: readonly { readonly title: string; readonly options: () => SnowflakeModuleOptions }[] = [
  {
    title: 'one hour tick',
    options: () => ({ timeUnit: 'hour', startTimeStamp: '2026-01-01', timeStampLength: 20, workIdLength: 5 }),
  },
  {
    title: 'one day tick',
    options: () => ({ timeUnit: 'day', startTimeStamp: '2026-01-01', timeStampLength: 17, workIdLength: 5 }),
  },
  {
    // Blocks of 1,024: half of one is used, and renewed, before every second crash.
    title: 'one hour tick of 2^20 IDs',
    options: () => ({
      timeUnit: 'hour',
      startTimeStamp: '2026-01-01',
      timeStampLength: 27,
      workIdLength: 10,
      endBitsLength: 5,
    }),
  },
];

/** 200 crashes and restarts on one row within one long tick: no ID twice, and at most a block burnt by each. */
export const crashRestarts: Figure = {
  name: 'crash-restarts',
  async measure(bench) {
    const leftMs = HOUR_MS - (Date.now() % HOUR_MS);
    if (leftMs < ROOM_MS) await sleep(leftMs + 1_000);
    return Promise.all(bench.kinds.flatMap((kind) => LAYOUTS.map((layout) => measureOne(layout, kind, bench))));
  },
};

async function measureOne(
  { title, options }: (typeof LAYOUTS)[number],
  kind: DatabaseKind,
  bench: Bench,
): Promise<Measurement> {
  const { options: dbConfig } = await bench.database(kind);
  const all = { ...options(), ...LEASE, serviceMinWorkId: 7, serviceMaxWorkId: 7, dbConfig };
  const ids = new Set<bigint>();
  const ticks = new Set<number>();
  /** What each crash cost, in blocks. */
  const burnt: number[] = [];
  let [issued, disturbances] = [0, 0];
  let before: { readonly last: number; readonly life: Life } | undefined;
  let block = 0;
  for (let restart = 0; restart <= RESTARTS; restart++) {
    const { life, opened } = await startWhenFree(all);
    block = Math.floor(opened.ids.layout.idsPerTick / 1_024);
    const first = opened.ids.parse(take(opened.ids, ids)[0]!);
    issued += IDS;
    ticks.add(first.time.getTime());
    if (before !== undefined) {
      const crashes = 1 + before.life.afterStart + life.atStart;
      burnt.push((first.sequence - before.last - 1) / crashes / Math.max(block, before.life.store.largestGrant));
      disturbances += crashes - 1;
    }
    if (restart % 2 === 0) await renewed(opened);
    before = { last: first.sequence + IDS - 1, life };
    life.end();
    await opened.worker.close();
  }
  const most = Math.max(...burnt);
  return {
    figure: `${RESTARTS} crash-restarts inside ${title}`,
    database: kind,
    target: '0 duplicates, at most one block burnt each',
    measured: `${issued - ids.size} duplicates of ${issued}; at most ${most.toFixed(2)} of a block of ${block} burnt, in ${ticks.size} tick; ${disturbances} standstills and unanswered acquires count as crashes`,
    ok: issued === ids.size && most <= 1 && ticks.size === 1 && burnt.length === RESTARTS,
  };
}

function take(generator: SnowflakeGenerator, into: Set<bigint>): bigint[] {
  const ids = generator.nextIds(IDS);
  for (const id of ids) into.add(id);
  return ids;
}

async function renewed({ worker }: OpenedWorker): Promise<void> {
  await new Promise<void>((settle, fail) => {
    const patience = setTimeout(() => fail(new Error(`not renewed in ${PATIENCE_MS} ms`)), PATIENCE_MS);
    worker.onEvent(({ type }) => {
      if (type !== 'lease-renewed') return;
      clearTimeout(patience);
      settle();
    });
  });
}

/**
 * A holder's life, and what has disturbed it. On a busy machine a process stands still for longer than this short lease,
 * or a write gets no answer in time: each of these costs a block as a crash does.
 */
class Life {
  store!: MortalStore;
  atStart = 0;
  afterStart = 0;
  private suspicions = 0;

  heard({ type }: LeaseEvent): void {
    if (type === 'lease-suspect') this.suspicions++;
  }

  started(): void {
    this.atStart += this.seen;
  }

  end(): void {
    this.afterStart = this.seen;
    this.store.die();
  }

  private get seen(): number {
    const seen = this.suspicions + this.store.unanswered;
    this.suspicions = this.store.unanswered = 0;
    return seen;
  }
}

async function startWhenFree(options: SnowflakeModuleOptions): Promise<{ life: Life; opened: OpenedWorker }> {
  const life = new Life();
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      const dress = (store: WorkerStore): WorkerStore => (life.store = new MortalStore(store)).store;
      const opened = await openWorker(options, dress, (event) => life.heard(event));
      life.started();
      return { life, opened };
    } catch (error) {
      life.started();
      // The crashed one's lease is not over yet, or this machine had no time for us.
      if (!(error instanceof RaindropError && error.retryable) || performance.now() > giveUpAt) throw error;
      await sleep(10);
    }
  }
}
