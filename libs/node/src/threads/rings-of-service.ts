import { LeaseLostError, LeaseSuspectError, type SharedIdRing } from '@raindrop/core/internal';
import type { IdService } from '../id-service.js';
import type { IdServiceEvents } from '../ports/id-service-status.js';

type Listeners = { readonly [Type in keyof IdServiceEvents]?: (...event: IdServiceEvents[Type]) => void };

const known = new WeakMap<IdService, RingsOfService>();

/**
 * The open rings of a service, and one set of listeners for all of them, which is there while there is a ring: one ring a
 * code must not look like a leak, and one that is closed must not be kept in memory.
 */
export class RingsOfService {
  private readonly rings = new Set<SharedIdRing>();

  // At a suspicion another copy of this process may hold what the rings hold. The lease may be confirmed again before they
  // have looked, so they are told.
  private readonly listeners: Listeners = {
    'lease-lost': ({ workerId, reason }) => this.each((ring) => ring.discard(new LeaseLostError(workerId, reason))),
    'lease-suspect': ({ workerId, reason }) =>
      this.each((ring) => ring.discard(new LeaseSuspectError(workerId, reason))),
    'database-regression': ({ error }) => this.each((ring) => ring.discard(error)),
    'lease-regained': () => this.each((ring) => ring.lookSoon()),
    'lease-released': () => this.each((ring) => ring.close()),
  };

  private constructor(private readonly events: IdService['events']) {}

  static of(ids: IdService): RingsOfService {
    const rings = known.get(ids) ?? new RingsOfService(ids.events);
    known.set(ids, rings);
    return rings;
  }

  add(ring: SharedIdRing): void {
    if (this.rings.size === 0) this.onEach('on');
    this.rings.add(ring);
  }

  delete(ring: SharedIdRing): void {
    if (this.rings.delete(ring) && this.rings.size === 0) this.onEach('off');
  }

  private each(act: (ring: SharedIdRing) => void): void {
    for (const ring of this.rings) act(ring);
  }

  private onEach(call: 'on' | 'off'): void {
    for (const [type, listener] of Object.entries(this.listeners)) {
      this.events[call](type as keyof IdServiceEvents, listener);
    }
  }
}
