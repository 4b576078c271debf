import { TIME_UNITS } from '@raindrop/core';
import type { Action } from './actions.js';
import { ROWS } from './layout-choice.js';
import { PROCESSES, type Setup } from './plan.js';
import type { RandomTrouble } from './random-trouble.js';
import { failoverStories, type FailoverStory } from './failover-stories.js';
import { restoreStories, type RestoreStory } from './restore-stories.js';
import type { SeededRandom } from '../../support/engine/seeded-random.js';

/** Several actions that mean something together, and hardly ever come about in that order by chance. */
export type StoryName =
  'cut off' | 'adopted' | 'overtaken' | 'buried' | 'late answer' | 'forgotten renewals' | FailoverStory | RestoreStory;

/** What a story is made with. */
export interface Telling {
  readonly random: SeededRandom;
  readonly trouble: RandomTrouble;
  readonly setup: Setup;
  readonly do: (action: Action) => void;
  readonly start: (process: number, layout?: number) => Action;
  /** The layout that serves at this time. */
  readonly layout: () => number;
  /** Some of the processes are asked for some IDs. */
  readonly issue: () => void;
}

export function stories(telling: Telling): Readonly<Record<StoryName, (process: number) => void>> {
  const { random, trouble, setup, start, issue } = telling;
  const { heartbeatIntervalMs = 10_000, leaseMs = 60_000, horizonMs = leaseMs + 5_000 } = setup.lease;
  const { opTimeoutMs = 3_000, commitLossWindowMs = 0, maxClockSkewMs = 30_000 } = setup.lease;
  const { lossMs } = setup;
  const graceMs =
    setup.lease.graceMs ?? (commitLossWindowMs > 0 ? leaseMs + commitLossWindowMs + 3 * maxClockSkewMs : leaseMs);
  const all = Array.from({ length: PROCESSES }, (_, process) => process);
  const other = (process: number): number => (process + 1 + random.below(PROCESSES - 1)) % PROCESSES;
  const tell = (...actions: Action[]): void => actions.forEach(telling.do);
  const pass = (ms: number): void => tell({ kind: 'pass', ms: Math.max(1, Math.round(ms)) });
  const slowWrite = (process: number, share: number): Action => {
    const backMs = Math.round(opTimeoutMs * (share + 0.3 * random.fraction()));
    return { kind: 'fault', process, call: 'write', fault: { kind: 'slow', thereMs: 0, backMs } };
  };
  /** All are asked again and again while so much time passes. */
  const live = (ms: number, times: number): void => {
    for (let round = 0; round < times; round++) {
      pass((ms / times) * (0.8 + 0.4 * random.fraction()));
      issue();
    }
  };

  return {
    ...failoverStories(telling, { tell, pass, live, other, all }),
    ...restoreStories(telling, { tell, pass, live, other, all }),

    /** A lease runs to its end without an answer from the database; the last answer before was late. */
    'cut off': (process) => {
      const fault = { kind: 'slow', thereMs: 0, backMs: Math.round(opTimeoutMs * 0.6) } as const;
      tell({ kind: 'release', process });
      pass(1);
      if (random.chance(0.5)) {
        tell({ ...start(process), trouble: { call: 'write', fault } } as Action);
        pass(opTimeoutMs * 0.7);
      } else {
        tell(start(process));
        pass(1);
        tell({ kind: 'fault', process, call: 'write', fault });
        pass(heartbeatIntervalMs + opTimeoutMs * 0.7);
      }
      tell({ kind: 'outage', process, fault: random.pick(['refused', 'hangs']) });
      pass(leaseMs - opTimeoutMs * 0.8 - heartbeatIntervalMs * 0.1);
      // Once in a while its renewal gets through at the last moment, and is answered too late.
      if (random.chance(0.5)) {
        tell({ kind: 'recover', process }, { kind: 'fault', process, call: 'write', fault });
      }
      live(opTimeoutMs * 1.2 + heartbeatIntervalMs * 0.1, 15);
      tell({ kind: 'recover', process });
    },

    /** A program of the original leaves a row; the clock of the process that takes it goes back. */
    adopted: (process) => {
      const unitMs = Math.max(...setup.layouts.map(({ unit }) => TIME_UNITS[unit].ms));
      if (setup.lease.adoptForeign !== true || unitMs > 60_000) return;
      tell({ kind: 'foreign', row: ROWS }, { kind: 'correct-database' }, { kind: 'kill', process });
      pass(trouble.about(130_000 + unitMs));
      tell({ kind: 'correct', process }, start(process));
      live(leaseMs, 6);
      tell({ kind: 'step', process, ms: -trouble.about(150_000) });
      live(leaseMs / 4, 6);
      tell({ kind: 'correct', process });
    },

    /** The database's clock jumps past a lease; a process of another layout comes before its holder has noticed. */
    overtaken: (process) => {
      const next = other(process);
      // Past what is reserved, too: otherwise the other layout has to wait.
      const ms = Math.round(graceMs + Math.max(leaseMs, horizonMs) * (1.1 + 0.4 * random.fraction()));
      tell({ kind: 'correct-database' });
      for (const each of all) tell({ kind: 'correct', process: each }, { kind: 'kill', process: each });
      pass(leaseMs + graceMs + 1);
      tell(start(process, 0));
      live(heartbeatIntervalMs, 3);
      tell({ kind: 'step-database', ms }, { kind: 'step', process: next, ms }, start(next, 1));
      live(ms + leaseMs, 30);
      tell({ kind: 'correct-database' }, { kind: 'correct', process: next });
    },

    /** Processes of another layout write every row and die before they look again; then some of them live. */
    buried: () => {
      const layout = random.below(2);
      const unitMs = Math.max(...setup.layouts.map(({ unit }) => TIME_UNITS[unit].ms));
      // A day is long for a process that renews twice a second.
      if (unitMs > 3_600_000) return;
      const endAll = (): void => {
        for (const each of all) tell({ kind: 'kill', process: each });
        pass(leaseMs + graceMs + 1);
      };
      tell({ kind: 'correct-database' });
      for (const each of all) tell({ kind: 'correct', process: each });
      endAll();
      // A tick that no process has used.
      pass(unitMs);
      for (const each of all) tell(start(each, 1 - layout));
      live(10, 2);
      endAll();
      for (const each of all) {
        const trouble = { call: 'readAgain', fault: { kind: 'hangs' } } as const;
        tell({ ...start(each, layout), trouble } as Action);
        pass(1);
      }
      endAll();
      for (const each of all) tell(start(each, layout));
      live(leaseMs / 2, 8);
    },

    /**
     * A fresh holder's first renewal is executed inside the window and answered after it; in between the database goes
     * back to before he came, or no process reaches it any more. Then all others start.
     */
    'late answer': (process) => {
      for (const each of all) tell({ kind: 'release', process: each });
      pass(1);
      tell({ kind: 'snapshot' }, start(process));
      pass(1);
      tell(slowWrite(process, 0.5));
      pass(lossMs - 2 - random.below(opTimeoutMs * 0.1));
      tell(random.chance(0.8) ? { kind: 'restore' } : { kind: 'outage', process, fault: 'refused' });
      for (const each of all) if (each !== process) tell(start(each));
      // Until the next one's own probation is over.
      live(lossMs * 1.2 + opTimeoutMs, 10);
      tell({ kind: 'recover', process });
    },

    /** The database forgets the last renewals of a holder, who dies or cannot reach it any more; others want his row. */
    'forgotten renewals': (process) => {
      tell({ kind: 'kill', process: other(process) });
      if (random.chance(0.5)) {
        // His lease is nearly over when he renews it: all that is left of it is forgotten.
        tell({ kind: 'outage', process, fault: 'refused' });
        pass(leaseMs * 0.9 - heartbeatIntervalMs);
      }
      tell({ kind: 'snapshot' }, { kind: 'recover', process });
      live(lossMs * 0.9, 4);
      tell(
        { kind: 'restore' },
        random.pick([
          { kind: 'outage', process, fault: random.pick(['refused', 'hangs']) },
          { kind: 'kill', process },
          slowWrite(process, 0.6),
        ]),
      );
      for (const each of all) if (each !== process) tell(start(each));
      live(leaseMs * 1.1, 25);
      tell({ kind: 'recover', process });
      // By now the row may be taken.
      if (random.chance(0.5)) {
        pass(graceMs);
        live(leaseMs / 4, 6);
      }
    },
  };
}
