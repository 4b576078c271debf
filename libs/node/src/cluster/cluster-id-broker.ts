import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import { ConfigurationError, InvalidBatchError, RaindropError, showValue, WaitTimeoutError } from '@raindrop/core';
import { processWide } from '@raindrop/core/internal';
import type { IdService } from '../id-service.js';
import { type IdAnswer, type IdRequest, MARK } from './cluster-primary.js';

/** The part of a service that a broker uses. */
export type BrokeredIds = Pick<IdService, 'name' | 'layout' | 'status' | 'nextStringsAsync'>;

/** The part of a worker or child process that a broker uses. */
interface Recipient {
  isConnected(): boolean;
  send(answer: IdAnswer, callback: (error: Error | null) => void): unknown;
}

/** The most IDs of one answer: the worker reads 10,000 in a few milliseconds, in slices. */
const MAX_ANSWER = 10_000;

/** The primary waits for IDs for this time at most, whatever the worker's request says, ms. */
const MAX_WAIT_MS = 60_000;

/** The open brokers of this process, by the name of their service: a request names the service only. */
const open = processWide('cluster brokers', () => new Map<string, ClusterIdBroker>());

/**
 * Gives the workers of this process IDs of a service that runs here, so that all of them together need one worker id.
 *
 * Make one in the primary before it forks, for each open service. Two for one service are refused: both would answer
 * every request, and the worker would drop one of the answers. It answers `node:cluster` workers by itself, and
 * children of `child_process.fork` after {@link serve}. Each worker gets batches of its own, and decides their size.
 * IDs that a worker has not used when it ends are a gap. Other messages on the same channels are ignored.
 */
export class ClusterIdBroker {
  private readonly served = new Map<ChildProcess, { message: (message: unknown) => void; exit: () => void }>();
  private readonly layout: string;
  private readonly onWorker = (worker: Recipient, message: unknown): void => this.onMessage(message, worker);

  /**
   * @param ids a service of snowflakes; numbers from segments need no worker id
   * @throws NoLayoutError; ConfigurationError when there is an open broker of a service of that name
   */
  constructor(private readonly ids: BrokeredIds) {
    this.layout = ids.layout.fingerprint;
    this.replace(open.get(ids.name));
    open.set(ids.name, this);
    cluster.on('message', this.onWorker);
  }

  /**
   * Answers a child of `child_process.fork` as well, until the child ends.
   * @returns a function that ends it earlier; a second call does nothing
   */
  serve(child: ChildProcess): () => void {
    if (!this.served.has(child)) {
      const recipient: Recipient = {
        isConnected: () => child.connected,
        send: (answer, callback) => child.send(answer, callback),
      };
      const message = (message: unknown): void => this.onMessage(message, recipient);
      const exit = (): void => this.stopServing(child);
      this.served.set(child, { message, exit });
      child.on('message', message);
      child.on('exit', exit);
    }
    return () => this.stopServing(child);
  }

  /** Answers no further request; the service stays open. A second call does nothing. */
  close(): void {
    if (open.get(this.ids.name) === this) open.delete(this.ids.name);
    cluster.off('message', this.onWorker);
    for (const child of [...this.served.keys()]) this.stopServing(child);
  }

  /** Takes the place of a broker whose service is closed: that one can only refuse. */
  private replace(former: ClusterIdBroker | undefined): void {
    if (former === undefined) return;
    const status = former.ids.status();
    if (status.idMode === 'snowflake' && status.state === 'closed') return former.close();
    const message = 'already has a ClusterIdBroker: call its serve(child), or close() it first';
    throw new ConfigurationError([{ option: 'service', given: showValue(this.ids.name), message }]);
  }

  private stopServing(child: ChildProcess): void {
    const listeners = this.served.get(child);
    if (listeners === undefined) return;
    this.served.delete(child);
    child.off('message', listeners.message);
    child.off('exit', listeners.exit);
  }

  private onMessage(message: unknown, from: Recipient): void {
    const { raindrop, service, request, count, code, waitMs } = (message ?? {}) as Partial<IdRequest>;
    if (raindrop !== MARK || service !== this.ids.name || typeof request !== 'string' || request.length > 100) return;
    void this.answer(count!, code, Math.min(Number(waitMs) || 0, MAX_WAIT_MS)).then((answer) => {
      // The channel may close meanwhile: the callback takes the error, which else is an 'error' event. The IDs are a
      // gap.
      if (from.isConnected()) from.send({ raindrop: MARK, answers: request, ...answer }, () => undefined);
    });
  }

  /** Never rejects: the service checks the request, and its error becomes the answer. */
  private async answer(
    count: number,
    code: string | undefined,
    timeoutMs: number,
  ): Promise<Pick<IdAnswer, 'ids' | 'layout' | 'problem'>> {
    try {
      return { ids: await this.take(count > MAX_ANSWER ? MAX_ANSWER : count, code, timeoutMs), layout: this.layout };
    } catch (error) {
      return { problem: problemOf(error) };
    }
  }

  /** Takes as many IDs as one batch of the service may have, if the worker asks for more. */
  private async take(count: number, code: string | undefined, timeoutMs: number): Promise<string[]> {
    try {
      return await this.ids.nextStringsAsync(count, code, { timeoutMs });
    } catch (error) {
      if (!(error instanceof InvalidBatchError) || !(count > error.maxBatch)) throw error;
      return this.ids.nextStringsAsync(error.maxBatch, code, { timeoutMs });
    }
  }
}

/** A timeout's cause, what the service waited for, says more than the timeout. */
function problemOf(error: unknown): IdAnswer['problem'] {
  const reason = error instanceof WaitTimeoutError ? error.cause : error;
  if (reason instanceof RaindropError) {
    const { errorCode, message, retryable } = reason;
    return { errorCode, detail: message, retryable };
  }
  // An unexpected error may hold a secret: the worker is not told it.
  return { errorCode: 'ID_SOURCE_UNAVAILABLE', detail: 'an unexpected error of its service', retryable: true };
}
