import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import {
  ConfigurationError,
  InvalidBatchError,
  RaindropError,
  showValue,
  WaitTimeoutError,
  type Layout,
} from '@raindrop/core';
import { processWide } from '@raindrop/core/internal';
import type { IdService } from '../id-service.js';
import type { WorkerGuarantee } from '../ports/worker.js';
import { ClusterLayoutError, InvalidClusterMessageError } from './cluster-errors.js';
import {
  encodeIds,
  type IdAnswer,
  type IdRequest,
  readRequest,
  refused,
  taken,
  type TravellingError,
} from './cluster-messages.js';

/** The part of a service that a broker needs, to give its IDs. */
export type BrokeredIds = Pick<IdService, 'name' | 'layout' | 'workerId' | 'status' | 'nextIdsAsync'>;

/** The part of a worker or child that is used. */
interface Recipient {
  isConnected(): boolean;
  send(answer: IdAnswer, callback: (error: Error | null) => void): unknown;
}

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
  private readonly layout: Layout;
  private readonly guarantee: WorkerGuarantee;
  private readonly onWorker = (worker: Recipient, message: unknown): void => this.hear(message, worker);

  /**
   * @param ids the service: snowflakes, since numbers from segments need no worker id
   * @throws NoLayoutError; ConfigurationError when there is an open broker of a service of that name
   */
  constructor(private readonly ids: BrokeredIds) {
    this.layout = ids.layout;
    const status = ids.status();
    this.guarantee = status.idMode === 'snowflake' ? status.guarantee : 'unsafe';
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
    const wanted = readRequest(message, this.ids.name);
    if (wanted === undefined) return;
    const answer =
      'malformed' in wanted
        ? Promise.resolve(refused(wanted.malformed, travelling(new InvalidClusterMessageError('a worker'))))
        : this.answer(wanted);
    void answer.then((message) => {
      // With a callback a channel that closes meanwhile is no 'error' event: the IDs are a gap.
      if (from.isConnected()) from.send(message, () => undefined);
    });
  }

  /** Never rejects. */
  private async answer({ request, count, code, layout, waitMs }: IdRequest): Promise<IdAnswer> {
    try {
      const { fingerprint } = this.layout;
      if (layout !== undefined && layout !== fingerprint)
        throw new ClusterLayoutError(this.ids.name, layout, fingerprint);
      const ids = await this.take(count, code, waitMs);
      const { workerId } = this.ids;
      return taken(request, { workerId, guarantee: this.guarantee, layout: fingerprint }, encodeIds(ids));
    } catch (error) {
      return refused(request, travelling(error));
    }
  }

  /** As many as one batch of the service may have. */
  private async take(count: number, code: string | undefined, timeoutMs: number): Promise<bigint[]> {
    try {
      return await this.ids.nextIdsAsync(count, code, { timeoutMs });
    } catch (error) {
      if (!(error instanceof InvalidBatchError) || count <= error.maxBatch) throw error;
      return this.ids.nextIdsAsync(error.maxBatch, code, { timeoutMs });
    }
  }
}

/** What the service waited for says more than that it waited. */
function travelling(error: unknown): TravellingError {
  const reason = error instanceof WaitTimeoutError ? error.cause : error;
  if (reason instanceof RaindropError) {
    const { errorCode, message, retryable } = reason;
    return { errorCode, message, retryable };
  }
  // What it is stays here: it may hold what belongs into no message.
  return { errorCode: 'ID_SOURCE_UNAVAILABLE', message: 'an unexpected error of its service', retryable: true };
}
