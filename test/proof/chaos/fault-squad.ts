import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosDatabase } from './chaos-database.js';
import type { ChaosTally } from './chaos-tally.js';
import type { PlannedFault } from './fault-plan.js';
import type { ChaosRedis } from './chaos-redis.js';
import type { FaultProxy } from './fault-proxy.js';
import type { WriteFault } from './proxied-connection.js';
import type { IssuingSlot } from './issuing-slot.js';
import { wallOffset } from './wall-offset.js';

/** A process that issues is waited for, in all for two seconds. */
const HOLDER_TRIES = 40;
const HOLDER_PAUSE_MS = 50;
/** Two readings of one clock differ by less. */
const CLOCK_TOLERANCE_MS = 0.5;

type WayOf = (slot: IssuingSlot) => FaultProxy | undefined;

/** Makes the planned faults happen, and counts those that did. */
export class FaultSquad {
  constructor(
    private readonly slots: readonly IssuingSlot[],
    private readonly database: ChaosDatabase | undefined,
    private readonly tally: ChaosTally,
    /** How long a process may be silent before it is given up, and how long one call of it may take. */
    private readonly limits: { readonly leaseMs: number; readonly opTimeoutMs: number },
    private readonly redis?: ChaosRedis,
  ) {}

  /** Settles when the fault is over. */
  async fire(fault: PlannedFault): Promise<void> {
    switch (fault.kind) {
      case 'kill':
        return this.aim(fault, ({ isAlive }) => isAlive)?.kill();
      case 'release':
        await this.aim(fault, ({ isAlive, isPaused }) => isAlive && !isPaused)?.release();
        return;
      case 'pause':
        return this.pause(fault);
      case 'refused':
      case 'halfOpen':
      case 'delayed':
        return this.disturb(fault, fault.kind, (slot) => slot.proxy);
      case 'cutBefore':
      case 'unanswered':
      case 'late':
        return this.spoilWrite(fault, fault.kind, (slot) => slot.proxy);
      case 'clockStep':
        return this.stepClock(fault);
      case 'databaseKill':
        await this.database!.kill(fault.lastsMs);
        return this.tally.fire('databaseKill');
      case 'lock':
        return this.lock(fault);
      case 'redisKill':
        return this.loseRedis(fault, (redis) => redis.kill(fault.lastsMs));
      case 'redisFlush':
        return this.loseRedis(fault, (redis) => redis.flush());
      case 'redisSnapshot':
        return this.loseRedis(fault, (redis) => redis.rewind(fault.lastsMs));
      case 'redisRefused':
        return this.disturb(fault, 'refused', (slot) => slot.redisProxy);
      case 'redisHalfOpen':
        return this.disturb(fault, 'halfOpen', (slot) => slot.redisProxy);
      case 'redisDelayed':
        return this.disturb(fault, 'delayed', (slot) => slot.redisProxy);
      case 'redisUnanswered':
        return this.spoilWrite(fault, 'unanswered', (slot) => slot.redisProxy);
    }
  }

  private async loseRedis({ kind }: PlannedFault, lose: (redis: ChaosRedis) => Promise<void>): Promise<void> {
    const from = Date.now();
    await lose(this.redis!);
    this.tally.note({ what: 'redis', slot: undefined, from, to: Date.now() });
    this.tally.fire(kind);
  }

  private async pause(fault: PlannedFault): Promise<void> {
    const slot = await this.aimAtHolder(fault);
    const from = Date.now();
    const survived = await slot?.pause(fault.lastsMs);
    this.tally.note({ what: 'pause', slot: slot?.index, from, to: Date.now() });
    if (survived !== true) return;
    this.tally.fire('pause');
    if (fault.lastsMs > this.limits.leaseMs) this.tally.fire('longPause');
  }

  private async disturb(
    { lastsMs, byMs, ...fault }: PlannedFault,
    kind: 'refused' | 'halfOpen' | 'delayed',
    way: WayOf,
  ): Promise<void> {
    const slot = await this.aimAtHolder(fault);
    const proxy = slot && way(slot);
    const from = Date.now();
    if (kind === 'refused') proxy?.refuse(true);
    if (kind === 'halfOpen') proxy?.halfOpen(true);
    if (kind === 'delayed') proxy?.delay(byMs);
    await sleep(lastsMs);
    if (kind === 'refused') proxy?.refuse(false);
    if (kind === 'halfOpen') proxy?.halfOpen(false);
    if (kind === 'delayed') proxy?.delay(0);
    this.tally.note({ what: 'net', slot: slot?.index, from, to: Date.now() });
  }

  private async spoilWrite(
    { byMs, lastsMs, ...fault }: PlannedFault,
    kind: WriteFault['kind'],
    way: WayOf,
  ): Promise<void> {
    const slot = await this.aimAtHolder(fault);
    const proxy = slot && way(slot);
    const spoil: WriteFault = { kind, afterMs: byMs };
    const from = Date.now();
    proxy?.nextWrite(spoil);
    await sleep(lastsMs);
    proxy?.forget(spoil);
    this.tally.note({ what: 'net', slot: slot?.index, from, to: Date.now() });
  }

  /** Away from the right time, and after a while back to it. It counts when the process itself has seen it. */
  private async stepClock({ byMs, lastsMs, ...fault }: PlannedFault): Promise<void> {
    const slot = this.aim(fault, ({ isSettled }) => isSettled);
    if (slot?.clock === undefined) return;
    slot.clock.step(byMs);
    const right = wallOffset();
    const seen = await slot.readClock();
    if (seen !== undefined && Math.abs(seen - right - byMs) < CLOCK_TOLERANCE_MS) this.tally.fire('clockStep');
    await sleep(lastsMs);
    slot.clock.step(0);
  }

  private async lock({ lastsMs, aim }: PlannedFault): Promise<void> {
    const before = this.tally.storeTroubles;
    if (!(await this.database!.lock(lastsMs, aim < 0.5))) return;
    // A process that was refused reports it a little later.
    await sleep(this.limits.opTimeoutMs);
    if (this.tally.storeTroubles > before) this.tally.fire('lock');
  }

  /** One that issues IDs, as soon as there is one. */
  private async aimAtHolder(fault: Pick<PlannedFault, 'aim'>): Promise<IssuingSlot | undefined> {
    for (let tries = 0; tries < HOLDER_TRIES && !this.slots.some(({ isIssuing }) => isIssuing); tries++) {
      await sleep(HOLDER_PAUSE_MS);
    }
    return this.aim(fault, ({ isIssuing }) => isIssuing);
  }

  /** One of the processes that suit, or of all that live when none does. */
  private aim({ aim }: Pick<PlannedFault, 'aim'>, suits: (slot: IssuingSlot) => boolean): IssuingSlot | undefined {
    const suitable = this.slots.filter(suits);
    const from = suitable.length > 0 ? suitable : this.slots.filter(({ isAlive }) => isAlive);
    return from[Math.floor(aim * from.length)];
  }
}
