import type { Fault, StoreCall } from '../../support/engine/fault-store.js';
import type { Operation } from './simulated-operator.js';
import type { Failover } from './simulated-servers.js';

/** One thing that is done to the processes, their hosts or the database. What is not possible at the moment is skipped. */
export type Action =
  /** Virtual time passes. */
  | { readonly kind: 'pass'; readonly ms: number }
  /** Time passes and no timer of anybody fires: every event loop is blocked. */
  | { readonly kind: 'block'; readonly ms: number }
  | ({ readonly kind: 'issue'; readonly process: number } & Asking)
  /** A new process in this place, if there is none. A shadow lives in lockstep with it until a copy is wanted. */
  | {
      readonly kind: 'start';
      readonly process: number;
      readonly layout: number;
      readonly seed: number;
      readonly shadow: boolean;
      /** One look at the clock serves a turn of the event loop, as in a real process; otherwise each call takes one. */
      readonly turnClock: boolean;
      /** What the first such request of the start meets. */
      readonly trouble?: { readonly call: StoreCall; readonly fault: Fault };
    }
  | { readonly kind: 'kill'; readonly process: number }
  | { readonly kind: 'release'; readonly process: number }
  | { readonly kind: 'pause'; readonly process: number }
  /** Its monotonic clock stands still as well. At a read: once its next read of its own row was answered. */
  | { readonly kind: 'suspend'; readonly process: number; readonly atRead: boolean }
  /** Ends both. */
  | { readonly kind: 'resume'; readonly process: number }
  | { readonly kind: 'step'; readonly process: number; readonly ms: number }
  /** The host's clock is set right. */
  | { readonly kind: 'correct'; readonly process: number }
  | { readonly kind: 'step-database'; readonly ms: number }
  | { readonly kind: 'correct-database' }
  /** No request of this process gets through; undefined for all. */
  | { readonly kind: 'outage'; readonly process: number | undefined; readonly fault: 'refused' | 'hangs' }
  | { readonly kind: 'recover'; readonly process: number | undefined }
  /** The next request of that sort meets a fault. */
  | { readonly kind: 'fault'; readonly process: number; readonly call: StoreCall; readonly fault: Fault }
  /** The shadow of a process becomes a process of its own, in the place of another, which is killed. */
  | {
      readonly kind: 'copy';
      readonly process: number;
      readonly into: number;
      readonly notice: Notice;
      readonly cut: 'refused' | 'hangs';
      readonly seed: number;
    }
  /** A row is marked deleted, and not any more. */
  | { readonly kind: 'hide'; readonly row: number }
  | { readonly kind: 'show'; readonly row: number }
  /** A program of the original takes a row. */
  | { readonly kind: 'foreign'; readonly row: number }
  /** The database loses all since the last snapshot, if that is no longer ago than may be lost. */
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'restore' }
  /** Another server takes over. */
  | ({ readonly kind: 'failover' } & Failover)
  /** The process drops its session with the server; the next one leads to the primary. */
  | { readonly kind: 'reconnect'; readonly process: number }
  /** Its next session leads to the former primary, if it lives and the process knows that it is one. */
  | { readonly kind: 'stray'; readonly process: number }
  /** The backup of this moment is restored later. */
  | { readonly kind: 'mark-backup' }
  /** An operator stops all processes, restores, and fences. */
  | ({ readonly kind: 'operate' } & Operation)
  /** The clocks of all servers and of all hosts. */
  | { readonly kind: 'step-all'; readonly ms: number }
  | { readonly kind: 'correct-all' }
  /** A job reserves a stretch of the past, and issues there until it is killed. */
  | ({ readonly kind: 'backfill'; readonly layout: number; readonly seed: number } & BackfillWish)
  /** Ends the jobs that live. */
  | { readonly kind: 'end-backfills' }
  /** The connection breaks when another server is given what it lacks. */
  | { readonly kind: 'break'; readonly process: number };

/** What a job wants to issue. */
export interface BackfillWish {
  /** How long before its present its first time lies, ms. */
  readonly agoMs: number;
  /** How long the stretch is, ms; it ends with its present at the latest. */
  readonly forMs: number;
  /** The time between two IDs, ms. */
  readonly stepMs: number;
  /** What its requests meet. */
  readonly faults: readonly { readonly call: StoreCall; readonly fault: readonly (Fault | undefined)[] }[];
}

/** How IDs are asked for. */
export interface Asking {
  readonly code: string | undefined;
  readonly count: number;
  readonly how: 'one' | 'batch' | 'async' | 'async batch';
}

/** How copies learn that they are two: another process id, `afterRestore()` in the copy, or in both. */
export type Notice = 'process id' | 'copy restored' | 'both restored';

/** An action in words, for the trace of a failure. */
export function describe(action: Action): string {
  const { kind, ...rest } = action;
  const details = Object.entries(rest)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return [kind, ...details].join(', ');
}
