import type { Lane, Layout, Odometer, WorkerRow, WorkerWrite } from '@raindrop/core';
import { compareOdometers, GrantLedger, type Place } from './grant-ledger.js';
import { LayoutsTogether } from './layouts-together.js';
import type { Witness, WitnessedStore } from './witnessed-store.js';

/** What must hold at every moment, by name. */
export type Invariant =
  | 'an ID is issued once'
  | 'odometers never fall'
  | 'a release keeps what was issued'
  | 'grants are disjoint'
  | 'issued inside a grant'
  | 'nothing issued after closed or lost'
  | 'nothing issued before a regression is healed'
  | 'the deadline holds'
  | 'no ID is of the far future'
  | 'layouts in the way of each other do not live together'
  | 'every error is typed';

export interface Violation {
  readonly invariant: Invariant;
  readonly message: string;
}

/** The process that issues, and the expectations of it at this moment. */
export interface Issuer {
  readonly name: string;
  readonly layout: Layout;
  readonly store: WitnessedStore;
  readonly leaseMs: number;
  readonly furthestAheadMs: number;
  readonly mustNotIssue: boolean;
  readonly clockMoved: boolean;
}

const LANES: readonly Lane[] = [0, 1];

/** What a process's own writes have done, as far as the database and the process know. */
interface Sender {
  readonly sentMs: Map<string, number>;
  readonly raised: Map<string, { readonly place: Place; readonly to: Odometer }[]>;
  /** When the last write was sent that the process knows to have been executed. */
  confirmedMs: number;
  /** The longest time in this tenure from the sending of a write to the knowledge of the next one. */
  longestGapMs: number;
  /** When it last saw that the database had gone back, until it learns of a write that it sent since. */
  regressedMs: number | undefined;
}

/** Checks every write that is executed and every ID that is issued, from outside: by the database and the IDs alone. */
export class Invariants implements Witness {
  readonly violations: Violation[] = [];
  readonly hidden = new Map<number, WorkerRow>();
  issuedCount = 0;
  /** Of everything issued, in order: two runs are the same when these are. */
  digest = 0x811c9dc5;

  private readonly ids = new Map<string | undefined, Set<bigint>>();
  private readonly ledger = new GrantLedger();
  private readonly together = new LayoutsTogether((fingerprint) => this.layoutOf(fingerprint));
  private readonly senders = new Map<WitnessedStore, Sender>();
  private readonly highest = new Map<number, { readonly place: Place; odometer: Odometer }[]>();
  /** Up to where a program of the original may have issued, by worker id; Unix ms. */
  private readonly foreignMs = new Map<number, number>();
  private databaseWentBack = false;
  /** When each layout was granted or issued something last. */
  private readonly servedMs = new Map<string, number>();
  /** The latest time of all IDs, Unix ms. */
  latestIssuedMs = 0;
  /** The latest that the database's clock has ever shown. */
  private latestMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly layouts: readonly Layout[],
    private readonly now: () => number,
    private readonly databaseMs: () => number,
    private readonly say?: (text: string) => void,
    /** Told of every write that was executed. */
    private readonly onWrite?: () => void,
  ) {}

  /** Looks at the database's clock. */
  lookAtClock(): void {
    this.latestMs = Math.max(this.latestMs, this.databaseMs());
  }

  /** The layouts that were granted or issued something from that moment on. */
  servedSince(ms: number): string[] {
    return [...this.servedMs].filter(([, servedMs]) => servedMs >= ms).map(([layout]) => layout);
  }

  /** From here on the table may grant once more what it has forgotten: only the IDs themselves can tell. */
  regressed(): void {
    this.databaseWentBack = true;
  }

  /** A program of the original has written the row: it may issue for a minute after the heartbeat that the row shows. */
  foreign(workerId: number, heartbeatMs: number): void {
    this.foreignMs.set(workerId, heartbeatMs + 60_000);
  }

  /** A process was told that it has been copied: nothing granted before is its own any more. */
  noticed(store: WitnessedStore): void {
    this.ledger.disown(store);
  }

  /** A call or a start failed with this. */
  refused(code: string): void {
    if (code.startsWith('untyped')) this.fail('every error is typed', code);
  }

  /** A process begins a tenure. */
  began(store: WitnessedStore): void {
    const sender = this.senderOf(store);
    sender.longestGapMs = 0;
    sender.regressedMs = undefined;
  }

  /** A process has seen that the database went back. */
  sawRegression(store: WitnessedStore): void {
    this.senderOf(store).regressedMs = store.hostMs;
  }

  looked(store: WitnessedStore): void {
    this.together.looked(store, this.now());
  }

  sent(store: WitnessedStore, token: string): void {
    this.senderOf(store).sentMs.set(token, store.hostMs);
    this.together.sent(store, token);
  }

  executed(store: WitnessedStore, write: WorkerWrite, before: WorkerRow): void {
    this.say?.(inWords(write, before));
    this.lookAtClock();
    if (write.token !== '') this.servedMs.set(write.layout, this.now());
    // A process that looked before the clock was set back saw more free rows than there are now.
    const times = { nowMs: this.now(), databaseMs: this.databaseMs(), latestMs: this.latestMs };
    const inTheWay = this.together.wrote(store, write, times);
    if (inTheWay.length > 0 && !this.databaseWentBack && this.hidden.size === 0) {
      const message = `worker ${write.id} under ${write.layout}, with another one alive on ${inTheWay.join(' and ')}`;
      this.fail('layouts in the way of each other do not live together', message);
    }
    const raised: { place: Place; to: Odometer }[] = [];
    for (const lane of LANES) {
      const place: Place = { layout: write.layout, workerId: write.id, lane };
      const [from, to] = [before.odometers[lane], write.odometers[lane]];
      if (write.token === '') this.released(store, place, before.layout, to);
      else {
        const sameLayout = before.layout === '' || before.layout === write.layout;
        if (to.ms < from.ms || (to.ms === from.ms && sameLayout && to.sequence < from.sequence)) {
          this.fail('odometers never fall', `${at(place)} from ${show(from)} to ${show(to)}`);
        }
        const start = this.startOfGrant(place, from, sameLayout);
        const end = this.positionOf(place.layout, to);
        const problem = this.ledger.add(place, store, start, end, !this.databaseWentBack);
        if (problem !== undefined) this.fail('grants are disjoint', `${at(place)} ${problem}`);
        raised.push({ place, to: end });
      }
    }
    this.senderOf(store).raised.set(write.token, raised);
    this.onWrite?.();
  }

  learned(store: WitnessedStore, token: string): void {
    const sender = this.senderOf(store);
    const raised = sender.raised.get(token);
    if (raised === undefined || token === '') return;
    for (const { place, to } of raised) this.ledger.learn(place, store, to);
    // What a copy was granted before it was one is not known here.
    const gapMs = Number.isFinite(sender.confirmedMs) ? store.hostMs - sender.confirmedMs : 0;
    sender.longestGapMs = Math.max(sender.longestGapMs, gapMs);
    const sentMs = sender.sentMs.get(token) ?? Number.NEGATIVE_INFINITY;
    sender.confirmedMs = Math.max(sender.confirmedMs, sentMs);
    if (sender.regressedMs !== undefined && sentMs >= sender.regressedMs) sender.regressedMs = undefined;
  }

  /** @param atOnce false when some time may lie between taking the ID and this */
  issued(process: Issuer, code: string | undefined, id: bigint, atOnce: boolean): void {
    this.issuedCount++;
    this.digest = Math.imul(this.digest ^ Number(BigInt.asUintN(32, id ^ (id >> 32n))), 0x01000193);
    const { layout } = process;
    const { tick, workerId, clockBack, sequence } = layout.unpack(id);
    const place: Place = { layout: layout.fingerprint, workerId, lane: clockBack as Lane };
    const position: Odometer = { ms: layout.timeline.startOf(tick), sequence };
    const where = (): string => `${process.name} issued ${id} (${at(place)} ${show(position)})`;

    let known = this.ids.get(code);
    if (known === undefined) this.ids.set(code, (known = new Set()));
    if (known.has(id)) this.fail('an ID is issued once', `${where()}, which was issued before`);
    known.add(id);

    this.servedMs.set(place.layout, this.now());
    this.latestIssuedMs = Math.max(this.latestIssuedMs, position.ms);
    this.raiseHighest(place, position);
    if (!this.ledger.covers(place, process.store, position)) this.fail('issued inside a grant', where());
    this.lookAtClock();
    const aheadMs = position.ms - this.latestMs;
    if (aheadMs > process.furthestAheadMs) {
      this.fail('no ID is of the far future', `${where()}, ${aheadMs} ms after the database's clock`);
    }
    if (!atOnce) return;
    if (process.mustNotIssue) this.fail('nothing issued after closed or lost', where());
    const { confirmedMs, longestGapMs, regressedMs } = this.senderOf(process.store);
    if (regressedMs !== undefined) this.fail('nothing issued before a regression is healed', where());
    if (longestGapMs > process.leaseMs) {
      this.fail('the deadline holds', `${where()}, with a lease that had run out before it was renewed`);
    }
    const late = process.store.hostMs - confirmedMs - process.leaseMs;
    if (late > 0 && process.clockMoved) {
      this.fail('the deadline holds', `${where()}, ${late.toFixed(1)} ms after its lease ended`);
    }
  }

  /** @param layout what the row was held under; it may go back under the one before */
  private released(store: WitnessedStore, place: Place, layout: string, odometer: Odometer): void {
    if (!this.databaseWentBack) {
      for (const { place: other, odometer: issued } of this.highest.get(place.workerId) ?? []) {
        if (other.lane !== place.lane) continue;
        const isBelow =
          other.layout === place.layout ? compareOdometers(odometer, issued) < 0 : odometer.ms < issued.ms;
        if (isBelow) {
          this.fail('a release keeps what was issued', `${at(place)} to ${show(odometer)}, below ${show(issued)}`);
        }
      }
    }
    const held = { ...place, layout };
    const to =
      layout === place.layout
        ? this.positionOf(layout, odometer)
        : this.startOfGrant(held, odometer, place.layout === '');
    const problem = this.ledger.release(held, store, to, !this.databaseWentBack);
    if (problem !== undefined) this.fail('odometers never fall', `${at(place)} ${problem}`);
  }

  /** Where a grant begins on a row with this odometer. */
  private startOfGrant(place: Place, odometer: Odometer, sameLayout: boolean): Odometer {
    const position = this.positionOf(place.layout, odometer);
    // Sequences of another layout mean something else: its last tick is used up, all of it.
    const past = sameLayout ? position : this.endOfTick(place.layout, odometer.ms);
    const foreign = this.endOfTick(place.layout, this.foreignMs.get(place.workerId) ?? Number.NEGATIVE_INFINITY);
    return compareOdometers(foreign, past) > 0 ? foreign : past;
  }

  private raiseHighest(place: Place, position: Odometer): void {
    let all = this.highest.get(place.workerId);
    if (all === undefined) this.highest.set(place.workerId, (all = []));
    const known = all.find((each) => each.place.lane === place.lane && each.place.layout === place.layout);
    if (known === undefined) all.push({ place, odometer: position });
    else if (compareOdometers(position, known.odometer) > 0) known.odometer = position;
  }

  /** An odometer left by another layout may lie in the middle of a tick. */
  private positionOf(layout: string, { ms, sequence }: Odometer): Odometer {
    const { timeline } = this.layoutOf(layout);
    return { ms: timeline.startOf(timeline.tickAt(ms)), sequence };
  }

  private endOfTick(layout: string, ms: number): Odometer {
    return this.positionOf(layout, { ms, sequence: this.layoutOf(layout).maxSequence });
  }

  private layoutOf(fingerprint: string): Layout {
    return this.layouts.find((each) => each.fingerprint === fingerprint)!;
  }

  private senderOf(store: WitnessedStore): Sender {
    let sender = this.senders.get(store);
    if (sender === undefined) {
      sender = {
        sentMs: new Map(),
        raised: new Map(),
        confirmedMs: Number.NEGATIVE_INFINITY,
        longestGapMs: 0,
        regressedMs: undefined,
      };
      this.senders.set(store, sender);
    }
    return sender;
  }

  private fail(invariant: Invariant, message: string): void {
    this.violations.push({ invariant, message });
  }
}

function inWords({ id, code, token, lane, odometers }: WorkerWrite, before: WorkerRow): string {
  const what = token === '' ? 'given back by' : before.code === code && before.token !== '' ? 'renewed by' : 'taken by';
  const moves = odometers.map((to, index) => `${show(before.odometers[index]!)} to ${show(to)}`);
  return `  row ${id} ${what} ${code}: lane ${lane}, odometers ${moves.join(' and ')}`;
}

function at({ layout, workerId, lane }: Place): string {
  return `worker ${workerId}, lane ${lane}, layout ${layout}:`;
}

function show({ ms, sequence }: Odometer): string {
  const date = new Date(ms);
  return `${Number.isNaN(date.getTime()) ? ms : date.toISOString()}/${sequence}`;
}
