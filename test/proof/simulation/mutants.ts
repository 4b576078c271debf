import { StoreUnavailableError } from '@raindrop/core';
import { AFTER_ALL, BEFORE_ALL } from '../../../libs/core/src/generator/tenure.js';
import { Layout } from '../../../libs/core/src/layout/layout.js';
import { Admission, ClockJumpDetector } from '../../../libs/core/src/lease/admission.js';
import type { StoreLease } from '../../../libs/core/src/lease/store-lease.js';
import { type HighestIssued, type RenewalTimer, WorkerKeeper } from '../../../libs/core/src/lease/worker-keeper.js';
import { MemoryWorkerStore, type MemoryWorkerTable } from '../../../libs/core/src/lease/memory-worker-store.js';
import { Reservation } from '../../../libs/core/src/lease/reservation.js';
import { StoreSession } from '../../../libs/core/src/lease/store-session.js';
import { FAILOVER_MUTANTS } from './failover-mutants.js';
import { HOLDER_MUTANTS } from './holder-mutants.js';
import { PAST_MUTANTS } from './past-mutants.js';
import { RESTORE_MUTANTS } from './restore-mutants.js';
import { replace, replaceGetter, type Mutant } from './mutant.js';
import { hideLayouts, TAKEOVER_MUTANTS } from './takeover-mutants.js';

const isWrite = (what: string): boolean => what === 'acquiring a worker' || what === 'renewing a worker';

/** By name; the faults of a row's holder and of its successor are in other files. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'reserve-after-issuing': {
    rule: 'A grant is written to the row before anything in it is issued.',
    shownBy: 26,
    install: () =>
      replace(Reservation.prototype, 'nextGrant', (original) => {
        return function (this: Reservation, ...args: Parameters<Reservation['nextGrant']>) {
          const plan = original.apply(this, args);
          this.apply(plan);
          return plan;
        };
      }),
  },
  'cas-without-version': {
    rule: 'A row is written only if it is unchanged since the read.',
    shownBy: 252,
    install: () =>
      replace(MemoryWorkerStore.prototype, 'write', (original) => {
        return function (this: MemoryWorkerStore, write: Parameters<MemoryWorkerStore['write']>[0]) {
          const row = (this as unknown as { table: MemoryWorkerTable }).table.rows.get(write.id);
          const expected = { version: row?.version ?? 0, token: write.expected.token };
          return original.call(this, { ...write, expected });
        };
      }),
  },
  'start-at-the-clock': {
    rule: 'A new holder starts after the odometer.',
    shownBy: 1,
    install: () =>
      replace(Reservation.prototype, 'firstGrant', (original) => {
        return function (this: Reservation, ...args: Parameters<Reservation['firstGrant']>) {
          const plan = original.apply(this, args);
          return { ...plan, base: [BEFORE_ALL, BEFORE_ALL] };
        };
      }),
  },
  'ambiguous-is-success': {
    rule: 'A write without an answer does not count as executed.',
    shownBy: 1,
    install: () =>
      replace(StoreSession.prototype, 'run', (original) => {
        const run = async function (this: StoreSession, ...args: Parameters<StoreSession['run']>) {
          try {
            return await original.apply(this, args);
          } catch (error) {
            if (error instanceof StoreUnavailableError && isWrite(args[0])) return true;
            throw error;
          }
        };
        return run as StoreSession['run'];
      }),
  },
  'issue-after-release': {
    rule: 'A release is final from the moment it is sent.',
    shownBy: 1,
    install: () => {
      interface Closing {
        readonly lease: StoreLease | undefined;
        readonly highestIssued: HighestIssued;
        readonly renewals: RenewalTimer;
        cancelStart(): Promise<void>;
        shutDown(): Promise<void>;
      }
      return replace(WorkerKeeper.prototype as unknown as Closing, 'shutDown', () => {
        return async function (this: Closing) {
          await this.cancelStart();
          await this.renewals.stop();
          await this.lease?.release(this.highestIssued);
        };
      });
    },
  },
  'adopt-on-0-rows': {
    rule: 'A write that changed no row grants nothing.',
    shownBy: 88,
    install: () =>
      replace(StoreSession.prototype, 'run', (original) => {
        const run = async function (this: StoreSession, ...args: Parameters<StoreSession['run']>) {
          const answer = await original.apply(this, args);
          return isWrite(args[0]) ? true : answer;
        };
        return run as StoreSession['run'];
      }),
  },
  'constant-token-with-clones': {
    rule: 'The token changes with every write, so that copies of one memory do not adopt each other’s grants.',
    shownBy: 88,
    constantTokens: true,
    install: () => () => undefined,
  },
  'unlimited-grant': {
    rule: 'No ID is issued past the limit.',
    shownBy: 2,
    install: () => replaceGetter(WorkerKeeper.prototype, 'limit', () => [AFTER_ALL, AFTER_ALL]),
  },
  'deadline-ignored': {
    rule: 'No ID is issued after the lease has expired.',
    shownBy: 1,
    install: () => replaceGetter(Admission.prototype, 'isLapsed', () => false),
  },
  'copies-ignored': {
    rule: 'A copy of a process gives up earlier grants.',
    shownBy: 5,
    install: () =>
      replace(ClockJumpDetector.prototype, 'findJump', (original) => {
        return function (this: ClockJumpDetector, ...args: Parameters<ClockJumpDetector['findJump']>) {
          const reason = original.apply(this, args);
          return reason?.includes('copied') === true ? undefined : reason;
        };
      }),
  },
  'no-probation': {
    rule: 'If a commit can be lost, a new lease waits until it cannot.',
    shownBy: 75,
    install: () => replaceGetter(Admission.prototype, 'probation', () => undefined),
  },
  'layouts-not-judged': {
    rule: 'Layouts that could repeat each other’s IDs are not used at the same time.',
    shownBy: 20,
    install: () => replace(Layout.prototype, 'disjointFrom', () => () => true),
  },
  'layouts-hidden-by-a-sample': {
    rule: 'A sample of rows shows the layouts of all rows.',
    shownBy: 8,
    install: () => hideLayouts(() => true),
  },
  ...HOLDER_MUTANTS,
  ...TAKEOVER_MUTANTS,
  ...PAST_MUTANTS,
  ...FAILOVER_MUTANTS,
  ...RESTORE_MUTANTS,
};
