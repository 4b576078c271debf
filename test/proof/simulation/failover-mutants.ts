import { unusedRow } from '@raindrop/core';
import {
  believedFromMs,
  judgeServer,
  type BelievedServer,
  type MemoryWorkerTable,
  type ServerVerdict,
} from '@raindrop/core/internal';
import { MemoryWorkerStore } from '../../../libs/core/src/lease/memory-worker-store.js';
import { FormerPrimaryError } from '../../../libs/core/src/lease/failover-guard.js';
import { StoreSession } from '../../../libs/core/src/lease/store-session.js';
import { SessionAge } from '../../../libs/node/src/database/database-connection.js';
import { replace, type Mutant } from './mutant.js';
import { SESSION_AGES } from './server-sessions.js';

/** What the private parts of a store are. */
interface Inside {
  believed: BelievedServer | undefined;
  readonly table: MemoryWorkerTable;
  readonly now: () => number;
  readonly reachMs: number;
  checkServer(): ServerVerdict;
}

const looks = (make: (original: () => ServerVerdict) => (this: Inside) => ServerVerdict): (() => void) =>
  replace(MemoryWorkerStore.prototype as unknown as Inside, 'checkServer', make);

/** Rules for servers that take turns. */
export const FAILOVER_MUTANTS: Readonly<Record<string, Mutant>> = {
  'failover-unnoticed': {
    rule: 'After a failover an odometer below the possible earlier grants does not count.',
    shownBy: 4,
    install: () =>
      looks((original) => {
        return function () {
          return { ...original.call(this), lostUntilMs: 0, barredUntilMs: 0 };
        };
      }),
  },
  'reach-without-the-lease': {
    rule: 'After a failover a start waits until every lease and grace is over, and then for the horizon.',
    shownBy: 9,
    install: () =>
      looks((original) => {
        return function () {
          const verdict = original.call(this);
          const barredUntilMs = Math.max(0, verdict.barredUntilMs - this.reachMs);
          return { ...verdict, barredUntilMs };
        };
      }),
  },
  'writes-checked-by-term-only': {
    rule: 'A row is written only before the next failover, even if that leads back to the server that was read.',
    shownBy: 4,
    install: () =>
      replace(MemoryWorkerStore.prototype, 'write', (original) => {
        return function (this: MemoryWorkerStore, ...args: Parameters<MemoryWorkerStore['write']>) {
          const inside = this as unknown as Inside;
          const { believed } = inside;
          if (believed !== undefined)
            inside.believed = { ...believed, failoverNumber: inside.table.state.failoverNumber };
          const answer = original.apply(this, args);
          inside.believed = believed;
          return answer;
        };
      }),
  },
  'layouts-judged-without-the-loss': {
    rule: 'After a failover the rows do not show how far another layout has issued.',
    shownBy: 87,
    install: () =>
      replace(MemoryWorkerStore.prototype, 'readTable', (original) => {
        return async function (this: MemoryWorkerStore) {
          const table = await original.call(this);
          // One of the layouts seems to have been granted IDs since.
          const layout = [...table.layouts].sort().at(-1) ?? '';
          const granted = { ms: believedFromMs(table) + 1, sequence: 0 };
          const odometers = [granted, { ms: 0, sequence: -1 }] as const;
          return { ...table, deleted: [...table.deleted, { ...unusedRow(0), layout, odometers }] };
        };
      }),
  },
  'sessions-never-age': {
    rule: 'An old session writes nothing, because its server may no longer be the primary.',
    shownBy: 9,
    install: () => {
      const mends = [
        replace(SessionAge.prototype, 'of', () => () => 0),
        replace(SessionAge.prototype, 'andIsYoung', () => () => ''),
      ];
      return () => mends.forEach((mend) => mend());
    },
  },
  'session-age-without-the-horizon': {
    rule: 'A session expires early enough for its last grants to lie before those of new starts.',
    shownBy: 149,
    install: () =>
      replace(SESSION_AGES, 'of', (original) => {
        return (lease) => {
          const ages = original(lease);
          const { maxClockSkewMs, leaseMs, opTimeoutMs, heartbeatIntervalMs } = lease;
          const maxSessionAgeMs = ages.reachMs - maxClockSkewMs - leaseMs - opTimeoutMs;
          const renewSessionAfterMs = maxSessionAgeMs - heartbeatIntervalMs - 2 * opTimeoutMs;
          return { ...ages, maxSessionAgeMs, renewSessionAfterMs };
        };
      }),
  },
  'former-primary-believed': {
    rule: 'A process that knows a later primary refuses an earlier one.',
    shownBy: 289,
    install: () =>
      looks((original) => {
        return function () {
          try {
            return original.call(this);
          } catch (error) {
            if (!(error instanceof FormerPrimaryError)) throw error;
            this.believed = { term: this.table.term, failoverNumber: this.table.state.failoverNumber };
            return original.call(this);
          }
        };
      }),
  },
  'believed-before-noted': {
    rule: 'A process uses another server only after completing its missing rows and confirming that.',
    shownBy: 224,
    install: () =>
      looks((original) => {
        return function () {
          const { term, state } = this.table;
          const { failoverNumber } = judgeServer({ nowMs: this.now(), term, ...state }, this.reachMs, this.believed);
          const { believed } = this;
          try {
            return original.call(this);
          } catch (error) {
            if (believed !== undefined) this.believed = { term, failoverNumber };
            throw error;
          }
        };
      }),
  },
  'vouched-for-over-the-same-session': {
    rule: 'A row that was not released is read again over a new session, which leads to the current primary.',
    shownBy: 9,
    install: () => replace(StoreSession.prototype, 'reconnect', () => () => undefined),
  },
};
