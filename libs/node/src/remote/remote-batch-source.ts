import { type IdBatchSource, Layout, type MonotonicClock, showValue, type Timers } from '@raindrop/core';
import { shapeOfFingerprint } from '@raindrop/core/internal';
import { InvalidRemoteAnswerError, RemoteLayoutError } from './remote-errors.js';
import { type GateOptions, RequestGate } from './request-gate.js';

/** What is used of `SegmentPorts`. */
interface RemoteBatchPorts {
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
}

interface RemoteBatchOptions extends GateOptions {
  /** An attempt is given up after so long, ms. */
  readonly opTimeoutMs: number;
}

/** After so many texts others get a turn of the event loop (well under a millisecond). */
const SLICE = 2_048;

/** At most 19 digits, as a bigint writes itself. */
const DECIMAL = /^(?:0|[1-9]\d{0,18})$/;

/** Takes batches of IDs from a service, and looks at what it answers. */
export class RemoteBatchSource implements IdBatchSource {
  /** Whether the last attempt brought IDs. */
  isAnswering = false;
  /** The worker id in the ID that came last. */
  workerId: number | undefined;
  private readonly underWay = new Set<AbortController>();
  private readonly gate: RequestGate;

  /** @param known the layout that the IDs must have; undefined takes the service's, which may not change afterwards */
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

  /** Undefined before the first answer, unless it was given. */
  get layout(): Layout | undefined {
    return this.known;
  }

  /** @throws RemoteIdsRefusedError; InvalidRemoteAnswerError; StaleRemoteAnswerError; RemoteLayoutError */
  async take(count: number, code?: string): Promise<bigint[]> {
    const { ports, underWay } = this;
    const attempt = new AbortController();
    underWay.add(attempt);
    // Who asked has given up by then.
    const timer = ports.timers.setTimer(() => attempt.abort(), this.options.opTimeoutMs, 'background');
    try {
      return await this.gate.pass(() => this.ask(count, code, attempt.signal), attempt.signal);
    } finally {
      timer.cancel();
      underWay.delete(attempt);
    }
  }

  /** Ends the attempts under way, which would keep the process alive until they end by themselves. */
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
      // The layout of the first answer is that of all others.
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
    if (shape === undefined) throw new InvalidRemoteAnswerError(name, 'names a layout that is none');
    if (known !== undefined) throw new RemoteLayoutError(name, known.fingerprint, fingerprint);
    return new Layout(shape);
  }

  private async read(texts: unknown, count: number, layout: Layout): Promise<bigint[]> {
    if (!Array.isArray(texts)) throw new InvalidRemoteAnswerError(this.name, 'has no list of IDs');
    if (texts.length < 1 || texts.length > count) {
      throw new InvalidRemoteAnswerError(this.name, `has ${texts.length} IDs in place of 1 to ${count}`);
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
    // Another answer may have come meanwhile.
    this.layoutOf(layout.fingerprint);
    return ids;
  }

  private idOf(text: unknown): bigint {
    if (typeof text === 'string' && DECIMAL.test(text)) return BigInt(text);
    throw new InvalidRemoteAnswerError(this.name, `holds something that is no ID in decimal, ${showValue(text)}`);
  }

  private workerOf(id: bigint, layout: Layout): number {
    try {
      return layout.unpack(id).workerId;
    } catch {
      throw this.misfit(id);
    }
  }

  private misfit(id: bigint): InvalidRemoteAnswerError {
    return new InvalidRemoteAnswerError(this.name, `holds an ID that its layout cannot have, ${id}`);
  }

  private yieldToEventLoop(): Promise<void> {
    return new Promise((resolve) => void this.ports.timers.setTimer(resolve, 0, 'foreground'));
  }
}

/** What a service answered, not looked at yet. */
export interface RemoteAnswer {
  /** To be a list of IDs as decimal text. */
  readonly ids: unknown;
  /** To be the fingerprint of their layout. */
  readonly layout: unknown;
}

/** A way to an ID service. */
export interface RemoteTransport {
  /** For errors and the log: `the ID service at http://ids:3000`. */
  readonly name: string;

  /** Whether the service is there, where the way knows it; else by its last answer. */
  readonly isConnected?: boolean;

  /**
   * Asks once. What it answers with was made for this very question: no cache, no other question's answer.
   * @param signal gives the attempt up; nothing of it is left then
   * @throws RaindropError; any other Error when the service cannot be reached
   */
  take(count: number, code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer>;

  /** Lets go of its connections. */
  close(): void;
}

/** Says whether an ID can be one of a layout: by its size, and by the bits that are the same in all of them. */
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
