import { randomBytes } from 'node:crypto';
import { ConfigurationError, type PrefetchPorts } from '@raindrop/core';
import { PermanentError } from '@raindrop/core/internal';
import type { RemoteAnswer, RemoteTransport } from '../remote/remote-batch-source.js';
import { readRefusal } from '../remote/remote-errors.js';
import {
  type RemoteFetchOptions,
  remoteIdSource,
  type RemoteIdSource,
  type RemoteTarget,
} from '../remote/remote-id-source.js';

/** Marks Raindrop's messages on a channel that the application uses as well. The number is that of their format. */
export const MARK = 'raindrop/ids/3';

/** How IDs are fetched from the primary. All other options are those of the service. */
export type ClusterPrimaryOptions = RemoteFetchOptions;

/**
 * Makes the primary the source of a service's IDs: the process that forked this one, by `node:cluster` or
 * `child_process.fork`. The primary holds the worker id for all its children, and has a `ClusterIdBroker` of the
 * service.
 *
 * The layout is that of the primary, and needs no options here; a start with options of another layout is refused.
 * `workerId` is that of the primary; everything else works as in a service with a worker id of its own.
 */
export function clusterPrimary(options: ClusterPrimaryOptions = {}): RemoteIdSource {
  return clusterPrimaryOver(process, options);
}

/** Makes such a source over any channel. @param ports by default those of this process */
export function clusterPrimaryOver(
  channel: PrimaryChannel,
  options: ClusterPrimaryOptions = {},
  ports?: PrefetchPorts,
): RemoteIdSource {
  const makeTransport = (_: unknown, { service, opTimeoutMs }: RemoteTarget): RemoteTransport =>
    new ClusterTransport(service, channel, opTimeoutMs);
  return remoteIdSource('clusterPrimary()', options, () => makeTransport, {
    assigner: 'cluster',
    ...(ports && { ports }),
  });
}

/** The message with which a child asks its parent for IDs. */
export interface IdRequest {
  readonly raindrop: typeof MARK;
  /** The name of the service. */
  readonly service: string;
  /** Names the request: different for every request of every child. */
  readonly request: string;
  readonly count: number;
  /** Left out for IDs without one. */
  readonly code?: string | undefined;
  /** For how long the child waits for the answer, ms. */
  readonly waitMs: number;
}

/** The parent's answer, as that of an ID service over HTTP: IDs and their layout, or a problem. */
export interface IdAnswer extends Partial<RemoteAnswer> {
  readonly raindrop: typeof MARK;
  /** The name of the request. */
  readonly answers: string;
  readonly problem?: { readonly errorCode: string; readonly detail: string; readonly retryable: boolean };
}

/** The part of `process` that is used in a forked process. */
export interface PrimaryChannel {
  readonly connected?: boolean;
  send?(message: unknown, handle: undefined, options: undefined, callback: (error: Error | null) => void): boolean;
  on(event: 'message' | 'disconnect', listener: (message?: unknown) => void): unknown;
  off(event: 'message' | 'disconnect', listener: (message?: unknown) => void): unknown;
}

interface Pending {
  readonly resolve: (answer: RemoteAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Asks the service of the process that forked this one, over the channel between the two. It listens only while it
 * waits for an answer, because a listener keeps the channel open and the process alive.
 */
class ClusterTransport implements RemoteTransport {
  readonly name: string;
  private readonly pending = new Map<string, Pending>();
  /** Part of the request's name: the services of a process share its channel, and each counts its requests. */
  private readonly token = randomBytes(12).toString('base64url');
  private requests = 0;

  /** @throws ConfigurationError when this process has no channel to a parent */
  constructor(
    private readonly service: string,
    private readonly channel: PrimaryChannel,
    private readonly opTimeoutMs: number,
  ) {
    this.name = `the ClusterIdBroker of the service '${service}' in the primary`;
    if (channel.send !== undefined) return;
    const message =
      'requires a process forked by node:cluster or child_process.fork: this one has no channel to a primary. Omit ' +
      'idSource in the primary';
    throw new ConfigurationError([{ option: 'idSource', given: 'clusterPrimary()', message }]);
  }

  get isConnected(): boolean {
    return this.channel.connected === true;
  }

  /** @throws PrimaryGoneError; RemoteIdsRefusedError */
  take(count: number, code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer> {
    const { channel, pending, service } = this;
    if (!this.isConnected) return Promise.reject(new PrimaryGoneError());
    if (signal.aborted) return Promise.reject(new Error('the request was cancelled'));
    // The primary gives up before this process does: its answer says why there are no IDs.
    const waitMs = Math.floor(this.opTimeoutMs * 0.8);
    const request = `${this.token}.${this.requests++}`;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => this.settle(request)?.reject(new Error('no answer in time'));
      signal.addEventListener('abort', giveUp, { once: true });
      if (pending.size === 0) this.listen();
      pending.set(request, { resolve, reject });
      channel.send!({ raindrop: MARK, service, request, count, code, waitMs }, undefined, undefined, (error) => {
        if (error !== null) this.settle(request)?.reject(this.isConnected ? error : new PrimaryGoneError());
      });
    });
  }

  /** Gives up the requests that are under way. */
  close(): void {
    for (const request of [...this.pending.keys()]) this.settle(request)?.reject(new Error('closed'));
  }

  private readonly onMessage = (message: unknown): void => {
    const { raindrop, answers, problem, ids, layout } = (message ?? {}) as Partial<IdAnswer>;
    const asked = raindrop === MARK && typeof answers === 'string' ? this.settle(answers) : undefined;
    if (problem === undefined) asked?.resolve({ ids, layout });
    else asked?.reject(readRefusal(problem, { source: this.name, question: 'for IDs' }));
  };

  private readonly onDisconnect = (): void => {
    for (const request of [...this.pending.keys()]) this.settle(request)?.reject(new PrimaryGoneError());
  };

  /** Forgets a request. A second answer to it, or a late one, is ignored. */
  private settle(request: string): Pending | undefined {
    const asked = this.pending.get(request);
    if (asked === undefined) return undefined;
    this.pending.delete(request);
    if (this.pending.size === 0) {
      this.channel.off('message', this.onMessage);
      this.channel.off('disconnect', this.onDisconnect);
    }
    return asked;
  }

  private listen(): void {
    this.channel.on('message', this.onMessage);
    this.channel.on('disconnect', this.onDisconnect);
  }
}

/** The channel to the primary is closed. A worker cannot get another one. */
export class PrimaryGoneError extends PermanentError {
  static override readonly name = 'PrimaryGoneError';
  readonly errorCode = 'PRIMARY_GONE';

  constructor() {
    super(
      `The channel to the primary is closed, so this worker gets no more IDs: the primary ended, or disconnect() was ` +
        `called. End this worker; a new primary starts its own.`,
    );
  }
}
