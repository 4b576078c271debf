import type { FiredFault } from './chaos-options.js';
import type { IssuingMessage } from './issuing-messages.js';

type Report = Extract<IssuingMessage, { type: 'report' }>;

/** A process that goes wrong at every call says so at every call. */
const SHOWN = 20;

/** A fault that may have cost numbers, from when to when, in the machine's time, ms. */
export interface ChaosEvent {
  readonly what: 'redis' | 'net' | 'pause';
  /** Whom it concerned; undefined for all. */
  readonly slot: number | undefined;
  readonly from: number;
  readonly to: number;
}

/** Everything a run counts. */
export class ChaosTally {
  readonly fired: Partial<Record<FiredFault, number>> = {};
  readonly refusals: Record<string, number> = {};
  readonly startRefusals: Record<string, number> = {};
  /** What must not happen, in words; the first of it. */
  readonly unexpected: string[] = [];
  /** The processes that ended by kill -9, as `2-5`: the fifth one in place 2. */
  readonly killed = new Set<string>();
  starts = 0;
  tenures = 0;
  backfills = 0;
  issued = 0;
  /** How often processes that held a worker could not reach the table. */
  storeTroubles = 0;
  /** For how long a process that had been served got nothing, at most. */
  longestRefusalMs = 0;

  readonly events: ChaosEvent[] = [];

  note(event: ChaosEvent): void {
    this.events.push(event);
  }

  fire(fault: FiredFault): void {
    this.fired[fault] = (this.fired[fault] ?? 0) + 1;
  }

  /** Takes note of what must not happen. */
  blame(what: string): void {
    if (this.unexpected.length < SHOWN) this.unexpected.push(what);
  }

  refuseStart(errorCode: string): void {
    this.startRefusals[errorCode] = (this.startRefusals[errorCode] ?? 0) + 1;
  }

  /** Takes over what a process has added since its last report. */
  add(now: Report, before: Report | undefined): void {
    this.tenures += now.tenures - (before?.tenures ?? 0);
    this.backfills += (now.backfills ?? 0) - (before?.backfills ?? 0);
    this.issued += now.issued - (before?.issued ?? 0);
    this.storeTroubles += now.storeTroubles - (before?.storeTroubles ?? 0);
    this.longestRefusalMs = Math.max(this.longestRefusalMs, now.longestRefusalMs);
    for (const [code, count] of Object.entries(now.refusals)) {
      this.refusals[code] = (this.refusals[code] ?? 0) + count - (before?.refusals[code] ?? 0);
    }
  }
}
