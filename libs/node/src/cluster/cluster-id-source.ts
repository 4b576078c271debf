import { randomBytes } from 'node:crypto';
import { shapeOfFingerprint } from '@raindrop/core/internal';
import { ConfigurationError, Layout, type IdBatchSource, type Timer, type Timers } from '@raindrop/core';
import {
  ClusterLayoutError,
  InvalidClusterMessageError,
  PrimaryGoneError,
  PrimaryRefusedError,
} from './cluster-errors.js';
import { answeredRequest, idRequest, MAX_ANSWER, readAnswer, type IdOrigin } from './cluster-messages.js';

/** The part of `process` that is used, in a process that was forked. */
export interface PrimaryChannel {
  readonly connected?: boolean;
  send?(message: unknown, handle: undefined, options: undefined, callback: (error: Error | null) => void): boolean;
  on(event: 'message' | 'disconnect', listener: (message?: unknown) => void): unknown;
  off(event: 'message' | 'disconnect', listener: (message?: unknown) => void): unknown;
}

export interface ClusterIdSourceOptions {
  /** The name of the service in the primary. */
  readonly service: string;
  /** The one that the IDs must have; undefined takes the primary's, which may not change afterwards. */
  readonly layout: Layout | undefined;
  /** For so long an answer is of use, ms. */
  readonly opTimeoutMs: number;
  readonly timers: Timers;
}

interface Pending {
  readonly count: number;
  readonly resolve: (ids: bigint[]) => void;
  readonly reject: (error: Error) => void;
  readonly timer: Timer;
}

/**
 * Takes IDs from the service of the process that forked this one, which a `ClusterIdBroker` offers there.
 *
 * It listens only while it waits for an answer: a listener keeps the channel, and with it the process, alive.
 */
export class ClusterIdSource implements IdBatchSource {
  /** Where the last IDs came from; undefined before the first. */
  origin: IdOrigin | undefined;
  private readonly pending = new Map<string, Pending>();
  /** Several services of a process share its channel, and may number their requests alike. */
  private readonly token = randomBytes(12).toString('base64url');
  private requests = 0;
  private known: Layout | undefined;

  /** @throws ConfigurationError when this process was not forked, or by something that has no channel to it */
  constructor(
    private readonly options: ClusterIdSourceOptions,
    private readonly channel: PrimaryChannel = process,
  ) {
    this.known = options.layout;
    if (channel.send !== undefined) return;
    const message =
      'needs a process that was forked by node:cluster or child_process.fork: this one has no channel to another. Leave ' +
      'idSource out in the primary';
    throw new ConfigurationError([{ option: 'idSource', given: 'clusterPrimary()', message }]);
  }

  get name(): string {
    return `the primary (which needs a ClusterIdBroker of the service '${this.options.service}')`;
  }

  /** Undefined before the first answer, unless it was given. */
  get layout(): Layout | undefined {
    return this.known;
  }

  /** Whether the primary can be asked. */
  get isConnected(): boolean {
    return this.channel.connected === true;
  }

  /** @throws PrimaryGoneError; PrimaryRefusedError; InvalidClusterMessageError; ClusterLayoutError */
  take(count: number, code?: string): Promise<bigint[]> {
    const { service, opTimeoutMs, timers } = this.options;
    const { channel, pending } = this;
    if (!this.isConnected) return Promise.reject(new PrimaryGoneError());
    const request = `${this.token}.${this.requests++}`;
    const wanted = Math.min(count, MAX_ANSWER);
    // The primary gives up first: its reason says more than that none came.
    const waitMs = Math.floor(opTimeoutMs * 0.8);
    return new Promise((resolve, reject) => {
      // Who asked has given up by then.
      const timer = timers.setTimer(() => this.settle(request), opTimeoutMs, 'background');
      if (pending.size === 0) this.listen();
      pending.set(request, { count: wanted, resolve, reject, timer });
      const message = idRequest({
        service,
        request,
        count: wanted,
        waitMs,
        ...(this.known !== undefined && { layout: this.known.fingerprint }),
        ...(code !== undefined && { code }),
      });
      channel.send!(message, undefined, undefined, (error) => {
        if (error !== null) this.settle(request)?.reject(this.isConnected ? error : new PrimaryGoneError());
      });
    });
  }

  private readonly onMessage = (message: unknown): void => {
    const request = answeredRequest(message);
    const asked = request === undefined ? undefined : this.settle(request);
    if (asked === undefined) return;
    const answer = readAnswer(message, asked.count);
    if (answer === undefined) return asked.reject(new InvalidClusterMessageError('the primary'));
    if ('errorCode' in answer) return asked.reject(new PrimaryRefusedError(answer));
    const error = this.misfit(answer.origin.layout);
    if (error !== undefined) return asked.reject(error);
    this.origin = answer.origin;
    asked.resolve(answer.ids);
  };

  /** The layout of the first answer is that of all others. */
  private misfit(fingerprint: string): Error | undefined {
    const { known, options } = this;
    if (fingerprint === known?.fingerprint) return undefined;
    const shape = shapeOfFingerprint(fingerprint);
    if (shape === undefined) return new InvalidClusterMessageError('the primary');
    if (known !== undefined) return new ClusterLayoutError(options.service, known.fingerprint, fingerprint);
    this.known = new Layout(shape);
    return undefined;
  }

  private readonly onDisconnect = (): void => {
    for (const request of [...this.pending.keys()]) this.settle(request)?.reject(new PrimaryGoneError());
  };

  /** Forgets a request, so that nothing answers it again. */
  private settle(request: string): Pending | undefined {
    const asked = this.pending.get(request);
    if (asked === undefined) return undefined;
    asked.timer.cancel();
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
