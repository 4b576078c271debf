import {
  Layout,
  shapeOfFingerprint,
  showValue,
  type IdBatchSource,
  type MonotonicClock,
  type Timers,
} from '@raindrop/core';
import { InvalidRemoteAnswerError, RemoteIdsRefusedError, RemoteLayoutError } from './remote-errors.js';
import type { RemoteTransport } from './remote-transport.js';

/** What is used of `SegmentPorts`. */
export interface RemoteBatchPorts {
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
}

/** After so many texts others get a turn of the event loop (well under a millisecond). */
const SLICE = 2_048;

/** At most 19 digits, as a bigint writes itself; those above 2^63 - 1 are refused with the batch. */
const DECIMAL = /^(?:0|[1-9]\d{0,18})$/;

/** Takes batches of IDs from a service, and looks at what it answers. */
export class RemoteBatchSource implements IdBatchSource {
  /** Whether the last attempt brought IDs. */
  isAnswering = false;
  /** The worker id in the ID that came last. */
  workerId: number | undefined;
  private readonly underWay = new Set<AbortController>();
  /** The service has asked for a pause. */
  private pause: { readonly until: number; readonly error: RemoteIdsRefusedError } | undefined;

  /** @param known the layout that the IDs must have; undefined takes the service's, which may not change afterwards */
  constructor(
    private readonly transport: RemoteTransport,
    private readonly opTimeoutMs: number,
    private readonly ports: RemoteBatchPorts,
    private known?: Layout,
  ) {}

  get name(): string {
    return this.transport.name;
  }

  /** Undefined before the first answer, unless it was given. */
  get layout(): Layout | undefined {
    return this.known;
  }

  /** @throws RemoteIdsRefusedError; InvalidRemoteAnswerError; StaleRemoteAnswerError; RemoteLayoutError */
  async take(count: number, code?: string): Promise<bigint[]> {
    const { pause, ports, underWay } = this;
    if (pause !== undefined && ports.monotonic.now() < pause.until) throw pause.error;
    const attempt = new AbortController();
    underWay.add(attempt);
    // Who asked has given up by then.
    const timer = ports.timers.setTimer(() => attempt.abort(), this.opTimeoutMs, 'background');
    try {
      const { ids, layout } = await this.transport.take(count, code, attempt.signal);
      this.check(layout);
      const read = await this.read(ids, count);
      this.workerId = this.workerOf(read.at(-1)!);
      this.isAnswering = true;
      return read;
    } catch (error) {
      this.isAnswering = false;
      this.heed(error);
      throw error;
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

  /** The layout of the first answer is that of all others. */
  private check(fingerprint: unknown): void {
    if (typeof fingerprint !== 'string') throw new InvalidRemoteAnswerError(this.name, 'does not name its layout');
    if (this.known === undefined) {
      const shape = shapeOfFingerprint(fingerprint);
      if (shape === undefined) throw new InvalidRemoteAnswerError(this.name, 'names a layout that is none');
      this.known = new Layout(shape);
    } else if (fingerprint !== this.known.fingerprint) {
      throw new RemoteLayoutError(this.name, this.known.fingerprint, fingerprint);
    }
  }

  private async read(texts: unknown, count: number): Promise<bigint[]> {
    if (!Array.isArray(texts)) throw new InvalidRemoteAnswerError(this.name, 'has no list of IDs');
    if (texts.length < 1 || texts.length > count) {
      throw new InvalidRemoteAnswerError(this.name, `has ${texts.length} IDs in place of 1 to ${count}`);
    }
    const ids: bigint[] = [];
    for (let from = 0; from < texts.length; from += SLICE) {
      if (from > 0) await this.breathe();
      for (const text of texts.slice(from, from + SLICE) as unknown[]) ids.push(this.idOf(text));
    }
    return ids;
  }

  private idOf(text: unknown): bigint {
    if (typeof text === 'string' && DECIMAL.test(text)) return BigInt(text);
    throw new InvalidRemoteAnswerError(this.name, `holds something that is no ID in decimal, ${showValue(text)}`);
  }

  private workerOf(id: bigint): number {
    try {
      return this.known!.unpack(id).workerId;
    } catch {
      throw new InvalidRemoteAnswerError(this.name, `holds an ID that its layout cannot have, ${id}`);
    }
  }

  private breathe(): Promise<void> {
    return new Promise((resolve) => void this.ports.timers.setTimer(resolve, 0, 'foreground'));
  }

  /** A service that says when to come again is left alone until then, whatever the code. */
  private heed(error: unknown): void {
    if (!(error instanceof RemoteIdsRefusedError) || !error.retryable || error.retryAfterMs === undefined) return;
    this.pause = { until: this.ports.monotonic.now() + error.retryAfterMs, error };
  }
}
