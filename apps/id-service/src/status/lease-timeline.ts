import { Injectable } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';

/** What happened to the worker id, without anything that need not be public. */
export interface TimelineEvent {
  readonly at: string;
  readonly type: (typeof TYPES)[number];
}

/** What is worth telling; a renewal every few seconds is not. */
export const TYPES = [
  ...(['lease-acquired', 'lease-lost', 'lease-regained', 'lease-suspect', 'lease-released'] as const),
  ...(['clock-back', 'database-regression', 'lease-trouble', 'warning'] as const),
] as const;

/** So many are kept: an outage of an hour is a few hundred attempts, and nobody reads more. */
const MOST_EVENTS = 20;

/** The last events of the lease, and how long the last renewal took: what the page shows of the past. */
@Injectable()
export class LeaseTimeline {
  private readonly kept: TimelineEvent[] = [];
  private renewalMs: number | null = null;

  constructor(ids: IdService) {
    const { events } = ids;
    // Taken a moment ago: the service is there before who listens to it.
    if (ids.status().state === 'held') this.add('lease-acquired');
    for (const type of TYPES) events.on(type, () => this.add(type));
    events.on('lease-renewed', ({ tookMs }: { readonly tookMs: number }) => {
      this.renewalMs = tookMs;
    });
  }

  /** The newest first. */
  get events(): readonly TimelineEvent[] {
    return this.kept;
  }

  /** A read and a write of the database; null before the first renewal. */
  get lastRenewalMs(): number | null {
    return this.renewalMs;
  }

  private add(type: TimelineEvent['type']): void {
    const [last] = this.kept;
    // What is tried again and again is one event, which goes on.
    if (last?.type === type && type === 'lease-trouble') this.kept.shift();
    this.kept.unshift({ at: new Date().toISOString(), type });
    if (this.kept.length > MOST_EVENTS) this.kept.pop();
  }
}
