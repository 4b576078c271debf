import { type Layout, type ParsedId, parseId } from '../layout/layout.js';
import type { GeneratorPorts, Timers } from '../ports.js';
import type { RaindropError } from '../raindrop-error.js';
import { CodeTable } from './code-table.js';
import { ReservationExhaustedError } from './generator-errors.js';
import { resolveGeneratorOptions, type GeneratorOptions } from './generator-options.js';
import { CallsByCode, type IdCalls } from './id-calls.js';
import type { IssuedByCode, IssuedByCodeOptions } from './issued-counts.js';
import { type BatchRequest, type BatchWriter, Outputs } from './outputs.js';
import { type AllocationCounters, Issuer } from './position-allocator.js';
import type { Lane, Position, Tenure } from './tenure.js';
import { Sequencer } from './tick-cursor.js';
import { Waiting, type WaitOptions } from './waiting.js';

/** Counts what the generator has done since it was made. */
export interface GeneratorCounters extends Readonly<AllocationCounters> {
  /** IDs; with 10,000 codes or more, a read may leave out some that one of the next reads includes. */
  readonly issued: number;
  /** Codes that are kept. */
  readonly codes: number;
}

/**
 * Issues IDs: clock -> tick -> lane -> layout, without I/O and without sleeping.
 *
 * Inside one process the IDs of a code increase strictly on a lane; a clock that went back may change the lane, and
 * then an ID can be smaller than the one before, never equal. Every call takes a `code`: each code has a sequence of
 * its own, so the same ID may appear under two codes.
 *
 * Every call throws (the async ones reject with) a typed error when an ID cannot be guaranteed: the refusals of the
 * tenure, `SequenceExhaustedError`, `ClockMovedBackError`, `ReservationExhaustedError`, `TimestampOverflowError`,
 * `ClockBeforeEpochError`, `InvalidCodeError`. The async calls wait instead where waiting helps.
 */
export class SnowflakeGenerator extends CallsByCode<Sequencer, CodeTable> implements IdCalls {
  readonly layout: Layout;
  private readonly issuer: Issuer;
  private readonly plain: Sequencer;

  constructor(
    setup: { readonly layout: Layout; readonly tenure: Tenure; readonly options?: GeneratorOptions },
    ports: GeneratorPorts & { readonly timers: Timers },
  ) {
    const { layout, tenure } = setup;
    const options = resolveGeneratorOptions(setup.options ?? {}, layout);
    const codes = new CodeTable(options.maxCodes);
    const issuer = new Issuer(layout, tenure, ports, options, codes);
    const waiting = new Waiting(ports, options);
    const outputs = new SnowflakeOutputs(issuer, waiting, options.maxBatch);
    super(codes, outputs);
    this.layout = layout;
    this.issuer = issuer;
    this.plain = codes.plain;
    tenure.onChange(() => {
      issuer.invalidate();
      waiting.wake();
    });
  }

  // The calls for one ID stand here as well as in the base class: without the way through the table, and in code that
  // no other engine shares, they take a tenth less time. `outputs.spec.ts` compares both.

  /** Makes an ID, as {@link IdCalls.nextId} says. */
  override nextId(code?: string): bigint {
    return this.issuer.next(code === undefined ? this.plain : this.codes.of(code));
  }

  /** Makes an ID as decimal text, as {@link IdCalls.nextString} says. */
  override nextString(code?: string): string {
    return this.issuer.nextText(code === undefined ? this.plain : this.codes.of(code));
  }

  /** Makes an ID as a number, as {@link IdCalls.nextNumber} says. */
  override nextNumber(code?: string): number {
    return this.issuer.nextNumber(code === undefined ? this.plain : this.codes.of(code));
  }

  /**
   * Reads the parts of an ID of this layout, which any process may have issued.
   * @throws InvalidIdError when it is not an ID; TimestampOverflowError when its time is beyond every Date
   */
  parse(id: bigint | string | number): ParsedId {
    return parseId(this.layout, id);
  }

  /**
   * Returns the highest position that any code has reached on a lane in this tenure. A worker id may be given back with
   * it: the next holder starts above it.
   */
  highest(tenure: Tenure, lane: Lane): Position {
    return this.codes.highest(tenure, lane);
  }

  /** Tells why an ID would be refused at this moment; undefined when it would not be. Nothing is issued. */
  refusal(code?: string): RaindropError | undefined {
    return this.issuer.refusal(this.codes.of(code));
  }

  /** Counts what was issued, borrowed, held and refused since the start. */
  get counters(): GeneratorCounters {
    return { ...this.issuer.counters, issued: this.codes.issued, codes: this.codes.size };
  }

  /**
   * Begins to count the IDs of some codes apart, those issued so far included.
   * @returns reads the counts; the counting ends when it is dropped
   * @throws ConfigurationError naming every option that is wrong
   */
  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.codes.count(options);
  }
}

/** An async batch yields to the event loop after this many IDs: well under a millisecond of work. */
const SLICE = 4_096;

/**
 * The outputs of snowflakes: turns positions into bigints, texts and numbers.
 *
 * A sync batch that does not fit takes its positions back; no caller has seen an ID of them. An async batch that fails
 * midway burns its positions. So does an async batch that sees the grant change: it begins anew under the new one.
 */
class SnowflakeOutputs extends Outputs<Sequencer> {
  private readonly before = new Sequencer();

  constructor(
    private readonly issuer: Issuer,
    private readonly waiting: Waiting,
    maxBatch: number,
  ) {
    super(maxBatch);
  }

  id(s: Sequencer): bigint {
    return this.issuer.next(s);
  }

  text(s: Sequencer): string {
    return this.issuer.nextText(s);
  }

  number(s: Sequencer): number {
    return this.issuer.nextNumber(s);
  }

  async idAsync(find: () => Sequencer, wait?: WaitOptions): Promise<bigint> {
    let id = 0n;
    await this.waiting.until(this.waiting.limit(wait), () => {
      // The code may have been evicted while the call waited. The ID is read here, before another call moves the
      // sequencer.
      const s = find();
      const refusal = this.issuer.tryStep(s);
      if (refusal === undefined) id = s.counter[0]!;
      return refusal;
    });
    return id;
  }

  protected write<Batch>(s: Sequencer, { batch, count, writer }: BatchRequest<Batch>): void {
    this.before.restore(s);
    let done = 0;
    while (done < count) {
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) {
        if (refusal instanceof ReservationExhaustedError) this.issuer.requestRoom(s, count);
        s.restore(this.before);
        throw refusal;
      }
      done = this.writeRun(s, writer, batch, done, count);
    }
  }

  protected async writeAsync<Batch>(
    find: () => Sequencer,
    { batch, count, writer }: BatchRequest<Batch>,
    wait?: WaitOptions,
  ): Promise<void> {
    const limit = this.waiting.limit(wait);
    let done = 0;
    let grant = '';
    const attempt = (): RaindropError | undefined => {
      const s = find();
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) return refusal;
      // Read after the step: the step asks the tenure, which may change in it.
      if (grant !== this.issuer.grantKey) done = 0;
      grant = this.issuer.grantKey;
      const end = Math.min(done + SLICE, count);
      done = this.writeRun(s, writer, batch, done, end);
      while (done < end && this.issuer.tryStep(s) === undefined) done = this.writeRun(s, writer, batch, done, end);
      return undefined;
    };
    while (done < count) {
      await this.waiting.until(limit, attempt);
      if (done < count) await this.waiting.yieldToEventLoop();
    }
  }

  /** Writes the ID just taken and the run after it. @returns the index after the last one */
  private writeRun<Batch>(s: Sequencer, writer: BatchWriter<Batch>, batch: Batch, from: number, end: number): number {
    const next = Math.min(end, from + 1 + this.issuer.runLength(s));
    writer.writeOne(batch, from, s.counter[0]!);
    writer.writeRun(s, this.issuer.sequenceStep, batch, from + 1, next);
    return next;
  }
}
