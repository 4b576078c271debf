import { Issuer } from '../../../libs/core/src/generator/position-allocator.js';
import { Admission } from '../../../libs/core/src/lease/admission.js';
import { DatabaseRegressionError } from '@raindrop/core';
import { StoreLease } from '../../../libs/core/src/lease/store-lease.js';
import { LeaseRow } from '../../../libs/core/src/lease/lease-row.js';
import type { LeaseContext } from '../../../libs/core/src/lease/lease-context.js';
import { StoreWorkerKeeper } from '../../../libs/core/src/lease/store-worker-keeper.js';
import { replace, replaceGetter, type Mutant } from './mutant.js';

/** What the private parts of a lease are. */
interface Inside {
  readonly admission: Admission;
  readonly ctx: { readonly ports: { readonly monotonic: { now(): number }; readonly clock: { refresh(): number } } };
}

/** What the private parts of a keeper are. */
interface Taking {
  readonly ctx: LeaseContext;
  acquireLease(): Promise<StoreLease>;
}

const insideOf = (lease: unknown): Inside => lease as Inside;

/** Rules for who holds a row. */
export const HOLDER_MUTANTS: Readonly<Record<string, Mutant>> = {
  'probation-ends-with-a-late-answer': {
    rule: 'A renewal sent inside the window does not end the probation, however late its answer comes.',
    shownBy: 240,
    install: () =>
      replace(Admission.prototype, 'confirm', (original) => {
        return function (this: Admission, ...args: Parameters<Admission['confirm']>) {
          const inside = this as unknown as { probationUntilMs: number | undefined };
          if (this.probationLeftMs === 0) inside.probationUntilMs = undefined;
          original.apply(this, args);
        };
      }),
  },
  'deadline-from-the-answer': {
    rule: 'A renewed lease counts from before the write was sent.',
    shownBy: 31,
    install: () =>
      replace(Admission.prototype, 'confirm', (original) => {
        return function (this: Admission, ...args: Parameters<Admission['confirm']>) {
          const { ports, options } = this as unknown as Inside['ctx'] & {
            readonly options: { readonly leaseMs: number };
          };
          const { isLapsed } = this;
          original.apply(this, args);
          if (!isLapsed) this.deadlineMs = ports.monotonic.now() + options.leaseMs;
        };
      }),
  },
  'deadline-from-the-answer-of-an-acquire': {
    rule: 'A fresh lease counts from before the write was sent.',
    shownBy: 3,
    install: () =>
      replace(StoreWorkerKeeper.prototype as unknown as Taking, 'acquireLease', (original) => {
        return async function (this: Taking) {
          const held = await original.apply(this);
          const { ports, options } = this.ctx;
          held.admission.deadlineMs = ports.monotonic.now() + options.leaseMs;
          return held;
        };
      }),
  },
  'lapse-after-a-write-ignored': {
    rule: 'A renewal answered after the lease expired does not revive it.',
    shownBy: 1,
    install: () =>
      replace(Admission.prototype, 'confirm', (original) => {
        return function (this: Admission, ...args: Parameters<Admission['confirm']>) {
          this.deadlineMs = Number.POSITIVE_INFINITY;
          original.apply(this, args);
        };
      }),
  },
  'expired-row-revived': {
    rule: "A row whose lease has expired by the database's clock is released, not renewed.",
    shownBy: 88,
    install: () =>
      replace(LeaseRow.prototype, 'judge', (original) => {
        return function (this: LeaseRow, ...args: Parameters<LeaseRow['judge']>) {
          const verdict = original.apply(this, args);
          if (verdict.kind === 'lost') return verdict;
          return { ...verdict, row: { ...verdict.row, leaseUntilMs: Number.POSITIVE_INFINITY } };
        };
      }),
  },
  'regression-does-not-bar': {
    rule: 'After the database went back in time, no ID is issued until it has our row again.',
    shownBy: 19,
    install: () =>
      replace(Admission.prototype, 'block', (original) => {
        return function (this: Admission, error: Parameters<Admission['block']>[0]) {
          if (!(error instanceof DatabaseRegressionError)) original.call(this, error);
        };
      }),
  },
  'skew-unchecked-while-running': {
    rule: "A renewal compares the clock with the database's.",
    shownBy: 18,
    install: () =>
      replace(StoreLease.prototype as unknown as { trustedNow(databaseMs: number): number }, 'trustedNow', () => {
        return function (this: unknown) {
          const { admission, ctx } = insideOf(this);
          const wallMs = ctx.ports.clock.refresh();
          admission.trustClock(wallMs);
          return wallMs;
        };
      }),
  },
  'release-forgets-an-executed-attempt': {
    rule: 'A release includes the grants of writes whose answer was lost.',
    shownBy: 3,
    install: () =>
      replace(StoreLease.prototype, 'release', (original) => {
        return function (this: StoreLease, ...args: Parameters<StoreLease['release']>) {
          // Hides the method of its class.
          Object.assign(this.reservation, { apply: () => undefined });
          return original.apply(this, args);
        };
      }),
  },
  'batch-across-grants': {
    rule: 'A batch that continues under another grant starts again.',
    shownBy: 373,
    install: () => replaceGetter(Issuer.prototype, 'grantKey', () => ''),
  },
};
