import type { IdServiceEvents } from '@raindrop/node';
import type { IdService } from '../id.service.js';

/** The events that are counted; renewals and failures the lease counts itself. */
const COUNTED = ['lease-lost', 'lease-regained', 'lease-suspect', 'clock-back', 'database-regression'] as const;

/** Counts a service's events. They are read, not reported: so every series begins at 0, before the first event. */
export class LeaseEventCounts {
  readonly counts = new Map<(typeof COUNTED)[number], number>(COUNTED.map((type) => [type, 0]));
  private readonly listener = ({ type }: IdServiceEvents[(typeof COUNTED)[number]][0]): void => {
    this.counts.set(type, this.counts.get(type)! + 1);
  };

  constructor(private readonly events: IdService['events']) {
    for (const type of COUNTED) events.on(type, this.listener);
  }

  stop(): void {
    for (const type of COUNTED) this.events.off(type, this.listener);
  }
}
