import { TIME_UNITS } from '@raindrop/core';
import { resolveLeaseOptions, sessionAgesOf } from '@raindrop/core/internal';
import type { Action } from './actions.js';
import type { Restore } from './simulated-backups.js';
import type { Fencing, Operation } from './simulated-operator.js';
import type { Telltale } from './failover-stories.js';
import type { Telling } from './stories.js';

/** What an operator does after a restore, and what happens around it. */
export type RestoreStory =
  | 'restored backup'
  | 'another layout since the backup'
  | 'former primary again'
  | 'fenced amid failovers'
  | 'loss in the future';

const HOUR_MS = 3_600_000;

/** A story asks its processes for IDs at most so often. */
const MOST_ROUNDS = 60;

export function restoreStories(
  { random, setup, start, layout }: Telling,
  { tell, pass, live, other, all }: Telltale,
): Readonly<Record<RestoreStory, (process: number) => void>> {
  const leases = [setup.lease, setup.otherLease].map(resolveLeaseOptions);
  const most = (of: (lease: (typeof leases)[number]) => number): number => Math.max(...leases.map(of));
  const [leaseMs, graceMs] = [most((lease) => lease.leaseMs), most((lease) => lease.graceMs)];
  const skewMs = most((lease) => lease.maxClockSkewMs);
  const heartbeatMs = most((lease) => lease.heartbeatIntervalMs);
  const reachMs = most((lease) => sessionAgesOf(lease).reachMs);
  const unitMs = Math.max(...setup.layouts.map(({ unit }) => TIME_UNITS[unit].ms));
  const hasServers = setup.serverOffsets !== undefined;
  const isLonger = leases[1]!.horizonMs > leases[0]!.horizonMs;

  /** Asked once in a tick, where that is not too often. */
  const liveClosely = (ms: number): void => live(ms, Math.min(MOST_ROUNDS, Math.ceil(ms / Math.min(unitMs, 1_000))));

  /** Every process is killed, or cut off: it issues until its lease is over. */
  const stopped = (share = 0.6): Operation['cutOff'] =>
    all
      .filter(() => !random.chance(share))
      .map((process) => ({ process, fault: random.pick(['refused', 'hangs'] as const) }));

  /** All are killed, what they held is free, and no fence or loss bars a row. */
  const clear = (): void => {
    tell({ kind: 'end-backfills' });
    for (const process of all) tell({ kind: 'resume', process }, { kind: 'recover', process });
    tell({ kind: 'correct-all' });
    for (const process of all) tell({ kind: 'kill', process });
    pass(2 * reachMs + leaseMs + graceMs);
  };

  const startAll = (layout: number): void => {
    for (const process of all) tell({ kind: 'correct', process }, start(process, layout));
  };

  /** Those that were cut off reach the store again, soon or later. */
  const comeBack = (cutOff: Operation['cutOff']): void => {
    for (const process of all) {
      if (cutOff.some((each) => each.process === process)) continue;
      tell({ kind: 'correct', process }, start(process));
    }
    if (random.chance(0.7)) liveClosely(leaseMs);
    for (const { process } of cutOff) tell({ kind: 'recover', process });
  };

  /** The longer horizon may come first or last; a fence may be made twice. */
  const services = (): Fencing['services'] => {
    if (!isLonger) return random.pick([['usual'], ['usual'], ['usual', 'usual']]);
    return random.pick([['other'], ['other', 'usual'], ['usual', 'other'], ['other', 'usual', 'other']]);
  };

  /** By how much the clocks are wrong when a fence is made: mostly not at all, or one of them, or both alike. */
  const wrongClocks = (): Pick<Fencing, 'hostAheadMs' | 'storeAheadMs'> => {
    const ms = Math.round(random.pick([1.5, 3, 20]) * skewMs + random.pick([0, 0, reachMs, HOUR_MS, HOUR_MS]));
    const stepMs = random.pick([-1, -1, 1]) * ms;
    switch (random.below(7)) {
      case 0:
        return { hostAheadMs: stepMs, storeAheadMs: 0 };
      case 1:
        return { hostAheadMs: 0, storeAheadMs: stepMs };
      case 2:
      case 3:
        // Ahead by much all starts would wait for that time.
        return { hostAheadMs: Math.min(stepMs, skewMs), storeAheadMs: Math.min(stepMs, skewMs) };
      default:
        return { hostAheadMs: 0, storeAheadMs: 0 };
    }
  };

  const fencing = (more: Partial<Fencing> = {}): Fencing => ({
    services: services(),
    ...wrongClocks(),
    layout: layout(),
    ifAhead: random.pick(['wait', 'state', 'state']),
    statesLayout: random.chance(0.3),
    ...more,
  });

  const operate = (
    cutOff: Operation['cutOff'],
    restore: Operation['restore'],
    more: Partial<Fencing> = {},
  ): Action => ({ kind: 'operate', cutOff, ...(restore !== undefined && { restore }), fencing: fencing(more) });

  const backup = (of: Restore['of']): Restore => ({
    of,
    onto: random.pick(['same', 'same', random.below(3)]),
    hasState: random.chance(0.8),
  });

  const failover = (lackMs: number, livesOn = false): Action => {
    return { kind: 'failover', to: random.below(3), lackMs: Math.round(lackMs), livesOn };
  };

  return {
    /** A backup of any age is restored while some processes go on, cut off. */
    'restored backup': () => {
      if (random.chance(0.3)) liveClosely(leaseMs);
      const cutOff = stopped();
      const ages = [0, 1, heartbeatMs, leaseMs, reachMs, 4 * reachMs, 30 * reachMs];
      const of = random.chance(0.15) ? 'empty' : Math.round(random.pick(ages) * random.fraction());
      if (random.chance(0.7)) tell(operate(cutOff, backup(of)));
      else {
        // The store's clock is as old as the backup: nothing but the operator's clock shows it.
        const behindMs = Math.round(random.pick([1.2, 2]) * reachMs);
        const old = random.pick<Restore['of']>(['empty', 2 * behindMs]);
        tell(operate(cutOff, backup(old), { hostAheadMs: 0, storeAheadMs: -behindMs }));
      }
      comeBack(cutOff);
      liveClosely(reachMs + skewMs + leaseMs);
    },

    /**
     * The layout whose IDs are larger serves after the backup, which may lack any trace of it. Then the first one serves
     * again, until it comes to the same IDs.
     */
    'another layout since the backup': (process) => {
      const shiftMs = -(setup.layouts[1]?.epochShiftMs ?? 0);
      if (shiftMs <= 0) return;
      clear();
      if (random.chance(0.3)) {
        tell(start(process, 1));
        live(heartbeatMs, 2);
        tell({ kind: 'kill', process });
        pass(shiftMs + leaseMs + graceMs + reachMs);
      }
      startAll(0);
      live(leaseMs, 4);
      for (const each of all) tell({ kind: 'kill', process: each });
      pass(leaseMs + graceMs + unitMs);
      tell({ kind: 'mark-backup' });
      startAll(1);
      const servedMs = Math.max(2 * leaseMs, 3 * unitMs);
      liveClosely(servedMs);
      const cutOff = stopped(0.9);
      tell(operate(cutOff, backup(random.chance(0.2) ? 'empty' : 'marked'), { layout: 0 }));
      for (const { process: each } of cutOff) tell({ kind: 'kill', process: each }, { kind: 'recover', process: each });
      startAll(0);
      pass(Math.max(1, Math.min(reachMs, shiftMs - servedMs)));
      liveClosely(Math.abs(shiftMs - reachMs) + servedMs + skewMs + leaseMs);
    },

    /** A server that was replaced is started again with its own data; others may have served another layout meanwhile. */
    'former primary again': (process) => {
      if (!hasServers) return;
      tell(failover(setup.lossMs * random.pick([0, 0.5, 1]), random.chance(0.5)));
      tell({ kind: 'kill', process }, start(process));
      live(reachMs + skewMs, 6);
      const next = other(process);
      tell({ kind: 'kill', process: next }, start(next));
      liveClosely(leaseMs * random.pick([0.5, 3]));
      const cutOff = stopped();
      tell(operate(cutOff, 'former primary'));
      comeBack(cutOff);
      liveClosely(reachMs + skewMs + leaseMs);
    },

    /** A failover just before the fence, another one after it, which may forget it, and perhaps a second fence. */
    'fenced amid failovers': () => {
      const cutOff = stopped();
      if (random.chance(0.7)) tell(failover(setup.lossMs * random.pick([0, 0.1]), random.chance(0.5)));
      const restored = random.chance(0.5) ? backup(Math.round(leaseMs * random.pick([0, 1, 10]))) : undefined;
      tell(operate(cutOff, restored));
      pass(random.pick([1, heartbeatMs, leaseMs]));
      tell(failover(setup.lossMs * random.pick([0, 0, 0.1, 1]), random.chance(0.5)));
      if (random.chance(0.5)) tell(operate(cutOff, undefined));
      comeBack(cutOff);
      live(reachMs * random.pick([0.1, 0.9]), 6);
      if (random.chance(0.3)) tell(failover(setup.lossMs * random.pick([0, 0.1]), random.chance(0.5)));
      liveClosely(reachMs + skewMs + leaseMs);
    },

    /**
     * All clocks are ahead together. A failover forgets what was issued then, and a process records it. The clocks are set
     * right, and the table is fenced.
     */
    'loss in the future': (process) => {
      if (!hasServers) return;
      const aheadMs = Math.round(random.pick([1.5, 2, 2, 0.5]) * reachMs);
      clear();
      tell({ kind: 'step-all', ms: aheadMs });
      startAll(0);
      const forgottenMs = Math.min(setup.lossMs, 2 * leaseMs);
      live(forgottenMs * 0.9, 12);
      const isKilled = random.chance(0.8);
      for (const each of all) if (isKilled || each !== process) tell({ kind: 'kill', process: each });
      if (!isKilled) tell({ kind: 'outage', process, fault: 'refused' });
      tell({ ...failover(forgottenMs), isRecorded: true } as Action);
      pass(heartbeatMs);
      tell({ kind: 'correct-all' });
      const cutOff = isKilled ? [] : [{ process, fault: 'refused' as const }];
      tell(operate(cutOff, undefined, { hostAheadMs: 0, storeAheadMs: 0, layout: 0 }), { kind: 'recover', process });
      for (const each of all) if (each !== process) tell({ kind: 'correct', process: each }, start(each, 0));
      if (random.chance(0.5)) tell({ kind: 'kill', process }, start(process, 0));
      live(reachMs, 10);
      liveClosely(aheadMs + leaseMs);
      pass(reachMs);
      liveClosely(leaseMs);
    },
  };
}
