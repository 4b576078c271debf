import type { Layout } from '../layout/layout.js';
import type { RaindropError } from '../raindrop-error.js';
import { ClockWindow } from './clock-window.js';
import type { CodeTable } from './code-table.js';
import { SequenceExhaustedError } from './generator-errors.js';
import type { ResolvedGeneratorOptions } from './generator-options.js';
import { Placement, type PlacementCounters } from './placement.js';
import type { GeneratorPorts } from './generator-ports.js';
import type { Sequencer } from './sequencer.js';
import type { Tenure } from './tenure.js';

/** A spinning read of the clock is given up after so many: a clock that stands still must not hang the process. */
const MAX_SPIN_READS = 100_000;

/**
 * Takes the steps: inside a {@link ClockWindow} a sequencer counts up with two comparisons, {@link Placement} is the long
 * way round, taken once for each window and code.
 */
export class Issuer {
  private readonly present: ClockWindow;
  private readonly placement: Placement;
  /** How many calls may do with one look at the clock, and how many of them are left. */
  private readonly callsPerLook: number;
  private callsLeft = 0;

  constructor(
    readonly layout: Layout,
    private readonly tenure: Tenure,
    private readonly ports: GeneratorPorts,
    private readonly options: ResolvedGeneratorOptions,
    codes: CodeTable,
  ) {
    this.callsPerLook = ports.clock.share?.(() => (this.callsLeft = 0)) ?? 0;
    this.present = new ClockWindow(layout, tenure);
    this.placement = new Placement(layout, tenure, this.present, codes, ports, options);
  }

  get counters(): Readonly<PlacementCounters> {
    return this.placement.counters;
  }

  /**
   * Tells grants apart. What was taken under another one must not be handed out any more: it belongs to somebody's past,
   * and a copy of this process may have handed it out.
   */
  get grant(): string {
    const { number, base } = this.tenure;
    return [number, ...base.map(({ tick, sequence }) => `${tick}:${sequence}`)].join(' ');
  }

  /** The ID of the next position of `s`. @throws RaindropError when no position may be issued now */
  next(s: Sequencer): bigint {
    if (!this.advance(s)) this.goRound(s);
    return s.cell[0]!;
  }

  /** Moves `s` one position on. @throws RaindropError when no position may be issued now */
  step(s: Sequencer): void {
    if (!this.advance(s)) this.goRound(s);
  }

  /** The fast path: one position on inside the window. False when everything has to be looked at anew. */
  advance(s: Sequencer): boolean {
    if (--this.callsLeft < 0) this.look();
    return s.advance(this.present.id);
  }

  /** As {@link step}, but reads the real clock, never spins, and answers with the refusal. */
  tryStep(s: Sequencer): RaindropError | undefined {
    const now = this.ports.clock.refresh();
    if (now !== this.present.seen) this.present.observe(now);
    return this.placement.place(s);
  }

  /** Why the next step of `s` would be refused now; undefined when it would not be. `s` stays where it is. */
  refusal(s: Sequencer): RaindropError | undefined {
    const counters = { ...this.placement.counters };
    const refusal = this.tryStep(s.copy());
    Object.assign(this.placement.counters, counters);
    return refusal;
  }

  /** A batch of so many did not fit into what is reserved: asks for room. */
  makeRoom(s: Sequencer, count: number): void {
    if (s.lane === this.tenure.lane) this.tenure.requestExtension(count);
  }

  /** How many more positions follow that of `s` without a gap and without another look at anything. */
  runLength(s: Sequencer): number {
    return s.runLength(this.present.id);
  }

  /** Looks at clock and tenure anew at the next step. */
  forget(): void {
    this.callsLeft = 0;
    this.present.forget();
  }

  private goRound(s: Sequencer): void {
    const refusal = this.placement.place(s);
    if (refusal !== undefined) this.insist(s, refusal);
  }

  private look(): void {
    const { clock } = this.ports;
    const now = this.callsPerLook > 0 ? clock.refresh() : clock.now();
    if (now !== this.present.seen) this.present.observe(now);
    this.callsLeft = this.callsPerLook;
  }

  /** A sync call's last resorts: the real clock, then at most one tick of a millisecond layout. */
  private insist(s: Sequencer, refusal: RaindropError): void {
    const { clock } = this.ports;
    const before = this.present.seen;
    const now = clock.refresh();
    let last: RaindropError | undefined = refusal;
    if (now !== before) {
      this.present.observe(now);
      last = this.placement.place(s);
    }
    if (last instanceof SequenceExhaustedError && this.options.onExhausted !== 'throw' && this.spin()) {
      last = this.placement.place(s);
    }
    if (last !== undefined) throw last;
  }

  private spin(): boolean {
    if (this.layout.unitMs !== 1) return false;
    const { clock, monotonic } = this.ports;
    const [before, start] = [this.present.wallMs, monotonic.now()];
    for (let reads = 0; reads < MAX_SPIN_READS; reads++) {
      // Asked before the clock is read: a thread that was held up in between finds the next millisecond.
      const isLast = monotonic.now() - start > 1;
      const now = clock.refresh();
      if (now !== before) {
        this.present.observe(now);
        return true;
      }
      if (isLast) return false;
    }
    return false;
  }
}
