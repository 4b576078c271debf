import { randomBytes } from 'node:crypto';
import { ConfigurationError, type PrefetchPorts, RaindropError } from '@raindrop/core';
import type { RemoteAnswer, RemoteTransport } from '../remote/remote-batch-source.js';
import { readRefusal } from '../remote/remote-errors.js';
import {
  type RemoteFetchOptions,
  remoteIdSource,
  type RemoteIdSource,
  type RemoteTarget,
} from '../remote/remote-id-source.js';

/** The options say how IDs are fetched from the primary; the rest is among the service's own options. */
export type ClusterPrimaryOptions = RemoteFetchOptions;

/**
 * Makes the process that forked this one, by `node:cluster` or `child_process.fork`, the source of a service's IDs: it
 * holds the worker id for all its children, and has a `ClusterIdBroker` of the service.
 *
 * The layout is the primary's, and needs no options here; others are refused at the start. The service has everything it
 * has otherwise; `workerId` is the primary's.
 */
export function clusterPrimary(options: ClusterPrimaryOptions = {}): RemoteIdSource {
  return clusterPrimaryOver(process, options);
}

/** The same over any channel. @param ports by default those of this process */
export function clusterPrimaryOver(
  channel: PrimaryChannel,
  options: ClusterPrimaryOptions = {},
  ports?: PrefetchPorts,
): RemoteIdSource {
  const way = (_: unknown, { service, opTimeoutMs }: RemoteTarget): RemoteTransport =>
    new ClusterTransport(service, channel, opTimeoutMs);
  return remoteIdSource('clusterPrimary()', options, () => way, { assigner: 'cluster', ...(ports && { ports }) });
}

/** Marks our messages on a channel that others use as well; another version of them is a stranger's. */
export const MARK = 'raindrop/ids/3';

/** A child asks for IDs of a service of its parent. */
export interface IdRequest {
  readonly raindrop: typeof MARK;
  /** The name of the service. */
  readonly service: string;
  /** Different for every request of every child. */
  readonly request: string;
  readonly count: number;
  /** Left out for IDs without one. */
  readonly code?: string | undefined;
  /** How long an answer is of use, ms. */
  readonly waitMs: number;
}

/** The parent answers what an ID service answers over HTTP: IDs and their layout, or a problem. */
export interface IdAnswer extends Partial<RemoteAnswer> {
  readonly raindrop: typeof MARK;
  /** The request that this answers. */
  readonly answers: string;
  readonly problem?: { readonly errorCode: string; readonly detail: string; readonly retryable: boolean };
}

/** The part of `process` that is used, in a process that was forked. */
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
 * The way to the service of the process that forked this one: the channel between both.
 *
 * It listens only while it waits for an answer: a listener keeps the channel, and with it the process, alive.
 */
class ClusterTransport implements RemoteTransport {
  readonly name: string;
  private readonly pending = new Map<string, Pending>();
  /** Several services of a process share its channel, and may number their requests alike. */
  private readonly token = randomBytes(12).toString('base64url');
  private requests = 0;

  /** @throws ConfigurationError when this process was not forked, or by something that has no channel to it */
  constructor(
    private readonly service: string,
    private readonly channel: PrimaryChannel,
    private readonly opTimeoutMs: number,
  ) {
    this.name = `the ClusterIdBroker of the service '${service}' in the primary`;
    if (channel.send !== undefined) return;
    const message =
      'needs a process that was forked by node:cluster or child_process.fork: this one has no channel to another. Leave ' +
      'idSource out in the primary';
    throw new ConfigurationError([{ option: 'idSource', given: 'clusterPrimary()', message }]);
  }

  get isConnected(): boolean {
    return this.channel.connected === true;
  }

  /** @throws PrimaryGoneError; RemoteIdsRefusedError */
  take(count: number, code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer> {
    const { channel, pending, service } = this;
    if (!this.isConnected) return Promise.reject(new PrimaryGoneError());
    if (signal.aborted) return Promise.reject(new Error('given up'));
    // The primary gives up first: its reason says more than that no answer came.
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

  /** Gives up what is under way. */
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

  /** Forgets a request: a second answer, or a late one, is for nothing. */
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

/** The channel to the primary is closed, and a worker never gets another one. */
export class PrimaryGoneError extends RaindropError {
  readonly errorCode = 'PRIMARY_GONE';

  constructor() {
    super(
      `The channel to the primary is closed, and with it the source of this worker's IDs: it ended, or disconnect() was ` +
        `called. End this worker; a new primary starts its own.`,
      { retryable: false },
    );
  }
}
