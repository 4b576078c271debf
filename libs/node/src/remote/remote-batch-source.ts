import { type IdBatchSource, Layout, type MonotonicClock, showValue, type Timers } from '@raindrop/core';
import { shapeOfFingerprint } from '@raindrop/core/internal';
import { InvalidRemoteAnswerError, RemoteLayoutError } from './remote-errors.js';
import { type GateOptions, RequestGate } from './request-gate.js';

/** The answer of a service, not checked yet. */
export interface RemoteAnswer {
  /** Must be a list of IDs as decimal text. */
  readonly ids: unknown;
  /** Must be the fingerprint of their layout. */
  readonly layout: unknown;
}

/** The port to an ID service. */
export interface RemoteTransport {
  /** For errors and the log: `the ID service at http://raindrop`. */
  readonly name: string;

  /**
   * Asks once. The answer must have been made for this request: an answer out of a cache would make IDs repeat.
   * @param signal gives the attempt up, and closes what it has opened
   * @throws RaindropError; any other Error when the service cannot be reached
   */
  take(count: number, code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer>;

  /** Closes its connections. */
  close(): void;
}

/** The ports that a source of batches uses. */
interface RemoteBatchPorts {
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
}

interface RemoteBatchOptions extends GateOptions {
  /** An attempt is given up after this time, ms. */
  readonly opTimeoutMs: number;
}

/** How many IDs are read in one turn of the event loop: well under a millisecond. */
const SLICE = 2_048;

/** An ID as decimal text: at most 19 digits, without leading zeros. */
const DECIMAL = /^(?:0|[1-9]\d{0,18})$/;

/** Fetches batches of IDs over a transport, and checks every answer before an ID of it is used. */
export class RemoteBatchSource implements IdBatchSource {
  /** True when the last attempt brought IDs. */
  isAnswering = false;
  /** The worker id in the last ID that was fetched. */
  workerId: number | undefined;
  private readonly underWay = new Set<AbortController>();
  private readonly gate: RequestGate;

  /** @param known the layout that the IDs must have; undefined: that of the first answer, which then may not change */
  constructor(
    private readonly transport: RemoteTransport,
    private readonly options: RemoteBatchOptions,
    private readonly ports: RemoteBatchPorts,
    private known?: Layout,
  ) {
    this.gate = new RequestGate(ports.monotonic, options);
  }

  get name(): string {
    return this.transport.name;
  }

  /** Undefined before the first answer, unless the constructor was given one. */
  get layout(): Layout | undefined {
    return this.known;
  }

  /** @throws RemoteIdsRefusedError; InvalidRemoteAnswerError; StaleRemoteAnswerError; RemoteLayoutError */
  async take(count: number, code?: string): Promise<bigint[]> {
    const { ports, underWay } = this;
    const attempt = new AbortController();
    underWay.add(attempt);
    // The prefetcher that asked has given up by then.
    const timer = ports.timers.setTimer(() => attempt.abort(), this.options.opTimeoutMs, 'background');
    try {
      return await this.gate.pass(() => this.ask(count, code, attempt.signal), attempt.signal);
    } finally {
      timer.cancel();
      underWay.delete(attempt);
    }
  }

  /** Ends the attempts under way: they would keep the process alive. */
  close(): void {
    for (const attempt of this.underWay) attempt.abort();
    this.transport.close();
  }

  private async ask(count: number, code: string | undefined, signal: AbortSignal): Promise<bigint[]> {
    try {
      const answer = await this.transport.take(count, code, signal);
      const layout = this.layoutOf(answer.layout);
      const ids = await this.read(answer.ids, count, layout);
      this.workerId = this.workerOf(ids.at(-1)!, layout);
      // All later answers must have the layout of the first one.
      this.known ??= layout;
      this.isAnswering = true;
      return ids;
    } catch (error) {
      this.isAnswering = false;
      throw error;
    }
  }

  private layoutOf(fingerprint: unknown): Layout {
    const { name, known } = this;
    if (known !== undefined && fingerprint === known.fingerprint) return known;
    if (typeof fingerprint !== 'string') throw new InvalidRemoteAnswerError(name, 'does not name its layout');
    const shape = shapeOfFingerprint(fingerprint);
    if (shape === undefined) throw new InvalidRemoteAnswerError(name, 'names an invalid layout');
    if (known !== undefined) throw new RemoteLayoutError(name, known.fingerprint, fingerprint);
    return new Layout(shape);
  }

  private async read(texts: unknown, count: number, layout: Layout): Promise<bigint[]> {
    if (!Array.isArray(texts)) throw new InvalidRemoteAnswerError(this.name, 'has no list of IDs');
    if (texts.length < 1 || texts.length > count) {
      throw new InvalidRemoteAnswerError(this.name, `has ${texts.length} IDs instead of 1 to ${count}`);
    }
    const fits = layoutCheck(layout);
    const ids: bigint[] = [];
    for (let from = 0; from < texts.length; from += SLICE) {
      if (from > 0) await this.yieldToEventLoop();
      for (const text of texts.slice(from, from + SLICE) as unknown[]) {
        const id = this.idOf(text);
        if (!fits(id)) throw this.misfit(id);
        ids.push(id);
      }
    }
    // Another answer, with another layout, may have come while this one was read in slices.
    this.layoutOf(layout.fingerprint);
    return ids;
  }

  private idOf(text: unknown): bigint {
    if (typeof text === 'string' && DECIMAL.test(text)) return BigInt(text);
    throw new InvalidRemoteAnswerError(this.name, `contains ${showValue(text)}, not a decimal ID`);
  }

  private workerOf(id: bigint, layout: Layout): number {
    try {
      return layout.unpack(id).workerId;
    } catch {
      throw this.misfit(id);
    }
  }

  private misfit(id: bigint): InvalidRemoteAnswerError {
    return new InvalidRemoteAnswerError(this.name, `contains ${id}, an ID that its layout cannot have`);
  }

  private yieldToEventLoop(): Promise<void> {
    return new Promise((resolve) => void this.ports.timers.setTimer(resolve, 0, 'foreground'));
  }
}

/**
 * Makes a check whether an ID can be one of a layout: by its size, and by the bits that all IDs of the layout share.
 */
function layoutCheck(layout: Layout): (id: bigint) => boolean {
  const max = (1n << BigInt(layout.bits)) - 1n;
  let mask = 0n;
  let fixed = 0n;
  for (const { role, bits, shift, value } of layout.fields) {
    if (role !== 'fixed') continue;
    mask |= ((1n << BigInt(bits)) - 1n) << BigInt(shift);
    fixed |= BigInt(value ?? 0) << BigInt(shift);
  }
  return (id) => id <= max && (id & mask) === fixed;
}
