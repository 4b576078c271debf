import { judgeServer, type BelievedServer, type MemoryWorkerTable } from '@raindrop/core/internal';
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
  checkServer(): number;
}

const looks = (make: (original: () => number) => (this: Inside) => number): (() => void) =>
  replace(MemoryWorkerStore.prototype as unknown as Inside, 'checkServer', make);

/** Rules for servers that take turns. */
export const FAILOVER_MUTANTS: Readonly<Record<string, Mutant>> = {
  'failover-unnoticed': {
    rule: 'After a failover no odometer is believed below what can have been granted before.',
    shownBy: 4,
    install: () =>
      looks((original) => {
        return function () {
          original.call(this);
          return 0;
        };
      }),
  },
  'reach-without-the-lease': {
    rule: 'A start waits after a failover until every lease and grace is over, and the horizon after that.',
    shownBy: 9,
    install: () =>
      looks((original) => {
        return function () {
          return Math.max(0, original.call(this) - this.reachMs);
        };
      }),
  },
  'writes-checked-by-term-only': {
    rule: 'A row is written only before the next failover, also where that leads back to the server that was read.',
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
    rule: 'After a failover the rows do not tell how far another layout has issued.',
    shownBy: 149,
    install: () =>
      replace(MemoryWorkerStore.prototype, 'readTable', (original) => {
        return async function (this: MemoryWorkerStore) {
          return { ...(await original.call(this)), lostUntilMs: 0 };
        };
      }),
  },
  'sessions-never-age': {
    rule: 'An old session writes nothing: it may lead to a server that is no primary any more.',
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
    rule: 'A session is too old early enough for what it was granted last to lie before what starts take.',
    shownBy: 24,
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
    rule: 'Who knows of a later primary believes none that was before.',
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
    rule: 'Another server is believed only once it has been given what it lacks, and that is confirmed.',
    shownBy: 149,
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
    rule: 'A row that was not given back is looked at once more over a new session: it leads to the present primary.',
    shownBy: 9,
    install: () => replace(StoreSession.prototype, 'reconnect', () => () => undefined),
  },
};
