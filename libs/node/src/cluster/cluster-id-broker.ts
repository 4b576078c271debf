import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import { ConfigurationError, InvalidBatchError, RaindropError, showValue, WaitTimeoutError } from '@raindrop/core';
import { processWide } from '@raindrop/core/internal';
import type { IdService } from '../id-service.js';
import { type IdAnswer, type IdRequest, MARK } from './cluster-primary.js';

/** The part of a service that a broker needs, to give its IDs. */
export type BrokeredIds = Pick<IdService, 'name' | 'layout' | 'status' | 'nextStringsAsync'>;

/** The part of a worker or child that is used. */
interface Recipient {
  isConnected(): boolean;
  send(answer: IdAnswer, callback: (error: Error | null) => void): unknown;
}

/** The most IDs that one answer has: reading 10,000 takes a few milliseconds, in slices. */
const MAX_ANSWER = 10_000;

/** The longest that a worker may let the primary wait, ms. */
const MAX_WAIT_MS = 60_000;

/** The open brokers of this process, by the name of their service: a request names that and no more. */
const open = processWide('cluster brokers', () => new Map<string, ClusterIdBroker>());

/**
 * Gives the workers of this process IDs of a service that runs here, so that all of them together need one worker id.
 *
 * To be made in the primary before it forks, one for each service that is open: two would both answer every request, and
 * what one of them issued would be lost. It answers `node:cluster` workers by itself, and children of
 * `child_process.fork` once they are served. Every worker gets batches of its own, sized by itself; what a worker that
 * ends did not use is a gap. Messages of others on the same channels are left alone.
 */
export class ClusterIdBroker {
  private readonly served = new Map<ChildProcess, { message: (message: unknown) => void; exit: () => void }>();
  private readonly layout: string;
  private readonly onWorker = (worker: Recipient, message: unknown): void => this.hear(message, worker);

  /**
   * @param ids the service: snowflakes, since numbers from segments need no worker id
   * @throws NoLayoutError; ConfigurationError when there is an open broker of a service of that name
   */
  constructor(private readonly ids: BrokeredIds) {
    this.layout = ids.layout.fingerprint;
    this.succeed(open.get(ids.name));
    open.set(ids.name, this);
    cluster.on('message', this.onWorker);
  }

  /**
   * Answers a child of `child_process.fork` as well, until it ends.
   * @returns ends that; safe to call twice
   */
  serve(child: ChildProcess): () => void {
    if (!this.served.has(child)) {
      const recipient: Recipient = {
        isConnected: () => child.connected,
        send: (answer, callback) => child.send(answer, callback),
      };
      const message = (message: unknown): void => this.hear(message, recipient);
      const exit = (): void => this.desert(child);
      this.served.set(child, { message, exit });
      child.on('message', message);
      child.on('exit', exit);
    }
    return () => this.desert(child);
  }

  /** Answers nobody any more; the service stays open. Twice does nothing. */
  close(): void {
    if (open.get(this.ids.name) === this) open.delete(this.ids.name);
    cluster.off('message', this.onWorker);
    for (const child of [...this.served.keys()]) this.desert(child);
  }

  /** A broker whose service was closed only refuses: the new one takes its place. */
  private succeed(former: ClusterIdBroker | undefined): void {
    if (former === undefined) return;
    const status = former.ids.status();
    if (status.idMode === 'snowflake' && status.state === 'closed') return former.close();
    const message = 'has a ClusterIdBroker already: call serve(child) of that one, or close() it first';
    throw new ConfigurationError([{ option: 'service', given: showValue(this.ids.name), message }]);
  }

  private desert(child: ChildProcess): void {
    const listeners = this.served.get(child);
    if (listeners === undefined) return;
    this.served.delete(child);
    child.off('message', listeners.message);
    child.off('exit', listeners.exit);
  }

  private hear(message: unknown, from: Recipient): void {
    const { raindrop, service, request, count, code, waitMs } = (message ?? {}) as Partial<IdRequest>;
    if (raindrop !== MARK || service !== this.ids.name || typeof request !== 'string' || request.length > 100) return;
    void this.answer(count!, code, Math.min(Number(waitMs) || 0, MAX_WAIT_MS)).then((answer) => {
      // With a callback a channel that closes meanwhile is no 'error' event: the IDs are a gap.
      if (from.isConnected()) from.send({ raindrop: MARK, answers: request, ...answer }, () => undefined);
    });
  }

  /** Never rejects. The service checks what was asked for. */
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

  /** As many as one batch of the service may have. */
  private async take(count: number, code: string | undefined, timeoutMs: number): Promise<string[]> {
    try {
      return await this.ids.nextStringsAsync(count, code, { timeoutMs });
    } catch (error) {
      if (!(error instanceof InvalidBatchError) || !(count > error.maxBatch)) throw error;
      return this.ids.nextStringsAsync(error.maxBatch, code, { timeoutMs });
    }
  }
}

/** What the service waited for says more than that it waited. */
function problemOf(error: unknown): IdAnswer['problem'] {
  const reason = error instanceof WaitTimeoutError ? error.cause : error;
  if (reason instanceof RaindropError) {
    const { errorCode, message, retryable } = reason;
    return { errorCode, detail: message, retryable };
  }
  // What it is stays here: it may hold what belongs into no message.
  return { errorCode: 'ID_SOURCE_UNAVAILABLE', detail: 'an unexpected error of its service', retryable: true };
}
