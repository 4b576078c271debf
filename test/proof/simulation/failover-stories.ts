import { resolveLeaseOptions, sessionAgesOf } from '@raindrop/core/internal';
import type { Action } from './actions.js';
import type { Failover } from './simulated-servers.js';
import type { Telling } from './stories.js';

/** Of a setup's layouts the one that a failover may lose all traces of. */
const FORGOTTEN = 2;

/** What happens when servers take turns, and hardly ever comes about by chance. */
export type FailoverStory =
  | 'old primary'
  | 'borrowed at the old primary'
  | 'expired at the old primary'
  | 'same term again'
  | 'lost while waiting'
  | 'lost while vouching'
  | 'lost layout';

/** What all stories are told with. */
export interface Telltale {
  readonly tell: (...actions: Action[]) => void;
  readonly pass: (ms: number) => void;
  readonly live: (ms: number, times: number) => void;
  readonly other: (process: number) => number;
  readonly all: readonly number[];
}

export function failoverStories(
  { random, setup, start }: Telling,
  { tell, pass, live, other, all }: Telltale,
): Readonly<Record<FailoverStory, (process: number) => void>> {
  const lease = resolveLeaseOptions(setup.lease);
  const { heartbeatIntervalMs, leaseMs, graceMs, opTimeoutMs, maxClockSkewMs } = lease;
  const { reachMs } = sessionAgesOf(lease);
  const failover = (
    lackMs: number,
    more: { livesOn?: boolean; to?: Failover['to']; forgetsLayouts?: boolean } = {},
  ): Action => ({ kind: 'failover', to: random.below(3), lackMs: Math.round(lackMs), livesOn: false, ...more });
  /** A start that meets no trouble. */
  const quietly = (process: number): Action => {
    const { seed, turnClock } = start(process, 0) as Extract<Action, { readonly kind: 'start' }>;
    return { kind: 'start', process, layout: 0, seed, shadow: false, turnClock };
  };
  let isForgotten = false;
  /** All end; what they held is free. */
  const clear = (): void => {
    for (const each of all) tell({ kind: 'resume', process: each }, { kind: 'recover', process: each });
    for (const each of all) tell({ kind: 'correct', process: each }, { kind: 'kill', process: each });
    pass(leaseMs + graceMs + 1);
  };
  /** Past the wait that follows a failover. */
  const outlive = (times: number): void => live(reachMs + maxClockSkewMs, times);

  return {
    /** A process goes on at the old primary with the session that it has; others take its row at the new one. */
    'old primary': (process) => {
      clear();
      for (const each of all) if (each !== process) tell(start(each), { kind: 'pass', ms: 1 });
      tell(start(process));
      live(heartbeatIntervalMs, 2);
      tell({ kind: 'reconnect', process });
      live(heartbeatIntervalMs * 1.2, 2);
      // Those that are killed leave room for starts, all of them at the new one.
      tell(failover(random.pick([0, 1]) * setup.lossMs, { livesOn: true }));
      for (const each of all) if (each !== process) tell({ kind: 'kill', process: each }, start(each));
      outlive(12);
      live(3 * leaseMs, 8);
    },

    /** A process that issues far ahead of its clock is killed at the old primary; then others take its row at the new one. */
    'borrowed at the old primary': (process) => {
      const { unit, sequenceBits } = setup.layouts[0]!;
      if (unit !== 'second' || sequenceBits > 3 || setup.generator.onExhausted !== 'borrow') return;
      const issueFor = (seconds: number): Action => {
        return { kind: 'issue', process, code: undefined, how: 'one', count: seconds * 2 ** sequenceBits };
      };
      clear();
      tell(quietly(process));
      pass(reachMs + maxClockSkewMs);
      tell({ kind: 'reconnect', process });
      pass(heartbeatIntervalMs * 1.2);
      tell(failover(0, { livesOn: true }));
      for (const each of all) if (each !== process) tell(quietly(each));
      // Before another session is opened, which would lead to the new one.
      const untilMs = reachMs - leaseMs - 3 * maxClockSkewMs - 2 * (heartbeatIntervalMs + 2 * opTimeoutMs);
      for (let round = 0; round < 8; round++) {
        tell(issueFor(20));
        pass(untilMs / 8);
      }
      tell(issueFor(70), { kind: 'kill', process });
      pass(reachMs - untilMs);
      live(leaseMs + 2 * maxClockSkewMs, 8);
    },

    /** The old primary shows a lease as over that its holder renews at the new one. A start that waits there takes it. */
    'expired at the old primary': (process) => {
      const waiting = other(process);
      clear();
      for (const each of all) if (each !== waiting) tell(start(each), { kind: 'pass', ms: 1 });
      pass(reachMs + maxClockSkewMs);
      live(heartbeatIntervalMs * (1.5 + random.fraction()), 2);
      // Before the failover some do not reach it.
      const holders = all.filter((each) => each !== waiting);
      for (const each of holders) tell({ kind: 'outage', process: each, fault: 'refused' });
      pass(Math.min(heartbeatIntervalMs + 2 * opTimeoutMs + 1_000, leaseMs - heartbeatIntervalMs - 800));
      tell(start(waiting));
      pass(1);
      tell(failover(0, { livesOn: true }));
      for (const each of holders) tell({ kind: 'recover', process: each }, { kind: 'reconnect', process: each });
      live(leaseMs + graceMs, 24);
    },

    /**
     * A holder is suspended between the read of its row and the write. Another one takes the row, which a failover forgets;
     * the next one leads back to the first server.
     */
    'same term again': (process) => {
      // Longer than its clock may jump unnoticed.
      if (2 * heartbeatIntervalMs + leaseMs + graceMs > maxClockSkewMs) return;
      clear();
      tell(quietly(process));
      outlive(6);
      tell({ kind: 'suspend', process, atRead: true });
      live(heartbeatIntervalMs * 1.2, 2);
      pass(leaseMs + graceMs);
      const forgottenMs = Math.min(setup.lossMs, 500);
      for (const each of all) if (each !== process) tell(quietly(each));
      live(forgottenMs - 2, 2);
      tell(failover(forgottenMs));
      // It is noted.
      const noting = other(process);
      tell({ kind: 'kill', process: noting }, quietly(noting));
      pass(1);
      tell(failover(0, { to: 'back' }), { kind: 'resume', process });
      live(heartbeatIntervalMs, 12);
      outlive(4);
    },

    /** While starts wait because of a failover there is the next one. */
    'lost while waiting': (process) => {
      tell(failover(setup.lossMs * 0.5), { kind: 'kill', process }, start(process));
      live(reachMs * random.pick([0.3, 0.9, 0.99]), 5);
      tell(failover(setup.lossMs, { livesOn: random.chance(0.5) }));
      live(reachMs * 0.15, 5);
      outlive(8);
    },

    /** A failover after a row was acquired, and before it is looked at once more. */
    'lost while vouching': (process) => {
      clear();
      const trouble = { call: 'readAgain', fault: { kind: 'slow', thereMs: opTimeoutMs * 0.5, backMs: 1 } } as const;
      tell({ ...start(process), trouble } as Action);
      pass(opTimeoutMs * 0.25);
      tell(failover(opTimeoutMs * 0.3, { livesOn: random.chance(0.5) }));
      for (const each of all) tell(start(each));
      live(opTimeoutMs, 4);
      outlive(8);
    },

    /**
     * A failover forgets all of a layout but what a process of it knows, which notes it once more though the connection breaks
     * at the first try. Once all others are past the wait they start with another layout.
     */
    'lost layout': (process) => {
      // Only once: of its first use nothing older is left.
      if (setup.layouts[FORGOTTEN] === undefined || isForgotten) return;
      isForgotten = true;
      clear();
      pass(reachMs + maxClockSkewMs);
      tell(start(process, FORGOTTEN));
      const knownMs = Math.min(setup.lossMs, heartbeatIntervalMs * 3);
      live(knownMs * 0.9, 8);
      tell({ kind: 'break', process }, failover(knownMs, { forgetsLayouts: true }));
      live(heartbeatIntervalMs * 2, 6);
      tell({ kind: 'kill', process });
      pass(reachMs - heartbeatIntervalMs * 2);
      for (const each of all) tell(start(each, 0));
      live(maxClockSkewMs + 4 * heartbeatIntervalMs, 24);
    },
  };
}
