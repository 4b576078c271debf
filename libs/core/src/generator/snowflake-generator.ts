import type { Layout } from '../layout/layout.js';
import { parseId, type ParsedId } from '../layout/parse-id.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Timers } from '../time/timers.js';
import { BoundCode } from './bound-code.js';
import { CodeTable } from './code-table.js';
import { CodeTableCounts } from './code-table-counts.js';
import { resolveGeneratorOptions, type GeneratorOptions } from './generator-options.js';
import type { GeneratorPorts } from './generator-ports.js';
import type { IdCalls } from './id-calls.js';
import type { IssuedByCode, IssuedByCodeOptions } from './issued-by-code.js';
import { Issuer } from './issuer.js';
import { Outputs } from './outputs.js';
import type { PlacementCounters } from './placement.js';
import type { Lane, Position } from './position.js';
import type { Sequencer } from './sequencer.js';
import type { Tenure } from './tenure.js';
import { Waiting, type WaitOptions } from './waiting.js';

/** What the generator has done since it was made. */
export interface GeneratorCounters extends Readonly<PlacementCounters> {
  /** IDs; with 10,000 codes or more those of some may be missing until a later look. */
  readonly issued: number;
  /** Codes that are kept. */
  readonly codes: number;
}

/**
 * Issues IDs: clock -> tick -> lane -> layout, without I/O and without sleeping.
 *
 * Inside one process the IDs of a code increase strictly on a lane; a clock that went back may change the lane, and then
 * an ID can be smaller than the one before, never equal. Every call takes a `code`: each code has a sequence of its own,
 * so the same ID may appear under two codes.
 *
 * Every call throws (the async ones reject with) a typed error when an ID cannot be guaranteed: the refusals of the
 * tenure, `SequenceExhaustedError`, `ClockMovedBackError`, `ReservationExhaustedError`, `TimestampOverflowError`,
 * `ClockBeforeEpochError`, `InvalidCodeError`. The async calls wait instead where waiting helps.
 */
export class SnowflakeGenerator implements IdCalls {
  readonly layout: Layout;
  private readonly issuer: Issuer;
  private readonly codes: CodeTable;
  /** Of calls without a code: without the way over the table they take a twentieth less. */
  private readonly plain: Sequencer;
  private readonly outputs: Outputs;

  constructor(
    setup: { readonly layout: Layout; readonly tenure: Tenure; readonly options?: GeneratorOptions },
    ports: GeneratorPorts & { readonly timers: Timers },
  ) {
    const { layout, tenure } = setup;
    const options = resolveGeneratorOptions(setup.options ?? {}, layout);
    this.layout = layout;
    this.codes = new CodeTable(options.maxCodes);
    this.plain = this.codes.plain;
    const waiting = new Waiting(ports, options);
    this.issuer = new Issuer(layout, tenure, ports, options, this.codes);
    this.outputs = new Outputs(this.issuer, waiting, options.maxBatch);
    tenure.onChange(() => {
      this.issuer.forget();
      waiting.wake();
    });
  }

  nextId(code?: string): bigint {
    return this.issuer.next(this.sequencer(code));
  }

  /** The ID as decimal text. */
  nextString(code?: string): string {
    return this.outputs.string(this.sequencer(code));
  }

  /** @throws UnsafeIntegerError above 2^53 - 1, before a position is consumed */
  nextNumber(code?: string): number {
    return this.outputs.number(this.sequencer(code));
  }

  /**
   * `count` IDs, strictly increasing within a lane; spans ticks where the policy lets it. All or nothing: it never
   * waits, and a batch that does not fit throws before it has issued anything.
   * @throws InvalidBatchError when `count` is not an integer from 1 to `maxBatch`
   */
  nextIds(count: number, code?: string): bigint[] {
    return this.outputs.ids(this.sequencer(code), count);
  }

  /** As {@link nextIds}, as decimal text. */
  nextStrings(count: number, code?: string): string[] {
    return this.outputs.strings(this.sequencer(code), count);
  }

  /** As {@link nextIds}, into an array of yours, without an allocation; it is zeroed when the batch does not fit. */
  fill(target: BigInt64Array, code?: string): BigInt64Array {
    return this.outputs.fill(this.sequencer(code), target);
  }

  /**
   * As {@link nextId}, but waits (for the next tick, the clock, the lease) where that helps.
   * @throws WaitTimeoutError after `timeoutMs`, with what it waited for as its cause; the signal's reason when aborted
   */
  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint> {
    return this.outputs.idAsync(() => this.sequencer(code), wait);
  }

  /** As {@link nextIdAsync}, as decimal text. */
  async nextStringAsync(code?: string, wait?: WaitOptions): Promise<string> {
    return (await this.nextIdAsync(code, wait)).toString();
  }

  /**
   * As {@link nextIds}, but waits where that helps and lets the event loop turn in between. When it fails midway it
   * rejects, and the IDs it had taken are burnt, never returned later.
   */
  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]> {
    return this.outputs.idsAsync(() => this.sequencer(code), count, wait);
  }

  /** As {@link nextIdsAsync}, as decimal text. */
  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]> {
    return this.outputs.stringsAsync(() => this.sequencer(code), count, wait);
  }

  /** As {@link nextIdsAsync}, into an array of yours. */
  fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.outputs.fillAsync(() => this.sequencer(code), target, wait);
  }

  /** The calls above for one code, without the look-up. @throws InvalidCodeError */
  forCode(code: string): BoundCode {
    return new BoundCode(code, (name) => this.codes.of(name), this.outputs);
  }

  /**
   * What an ID of this layout says, whoever issued it.
   * @throws InvalidIdError when it is not an ID; TimestampOverflowError when its time is beyond every Date
   */
  parse(id: bigint | string | number): ParsedId {
    return parseId(this.layout, id);
  }

  /** The highest position that any code has reached on a lane in this tenure: what a release may leave behind. */
  highest(tenure: Tenure, lane: Lane): Position {
    return this.codes.highest(tenure, lane);
  }

  /** Why an ID would be refused at this moment; undefined when it would not be. Nothing is issued. */
  refusal(code?: string): RaindropError | undefined {
    return this.issuer.refusal(this.sequencer(code));
  }

  /** What was issued, borrowed, held and refused since the start. */
  get counters(): GeneratorCounters {
    return { ...this.issuer.counters, issued: this.codes.total.read(), codes: this.codes.size };
  }

  /**
   * Begins to count the IDs of some codes apart, those issued so far included.
   * @returns reads the counts, and ends the counting
   * @throws ConfigurationError naming every option that is wrong
   */
  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return new CodeTableCounts(this.codes, options);
  }

  private sequencer(code: string | undefined): Sequencer {
    return code === undefined ? this.plain : this.codes.of(code);
  }
}
