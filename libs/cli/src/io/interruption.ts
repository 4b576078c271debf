import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import type { CliStreams } from './cli-streams.js';

/** Somebody ended the command: what it holds is given back, nothing more is done. */
export class InterruptedError extends Error {
  constructor(
    /** What ended it, in words. */
    readonly by: 'SIGINT' | 'SIGTERM' | 'its reader',
    readonly exitCode: ExitCode,
  ) {
    super(`ended by ${by}`);
    this.name = 'InterruptedError';
  }
}

/** What a write says when nobody reads; a socket that was closed with something unread in it says the last one. */
const GONE: readonly string[] = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ECONNRESET'];

/**
 * Turns SIGINT, SIGTERM and a reader of stdout that has gone (`| head`) into one AbortSignal. A second signal ends the
 * process at once, as if nobody listened.
 */
export class Interruption {
  private readonly controller = new AbortController();
  private isHolding = false;

  constructor({ stdout, stderr }: CliStreams) {
    process.once('SIGINT', this.onInt);
    process.once('SIGTERM', this.onTerm);
    stdout.on('error', this.failed);
    // Nobody is left to be told; without a listener it would end the process, and leave the worker id taken.
    stderr.on('error', () => undefined);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** @throws InterruptedError when the command was ended; the error of stdout when that failed */
  check(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** From now on something has to be given back: the work sees the signal and ends by itself. */
  hold(): void {
    this.isHolding = true;
  }

  /** What the work comes to; while it holds nothing, a signal ends the waiting at once. */
  race<T>(work: Promise<T>): Promise<T> {
    const ended = new Promise<never>((_, reject) => {
      const end = (): void => {
        if (!this.isHolding) reject(this.signal.reason as Error);
      };
      this.signal.addEventListener('abort', end, { once: true });
      if (this.signal.aborted) end();
    });
    return Promise.race([work, ended]);
  }

  /** Stdout takes nothing any more. */
  readonly failed = (error: NodeJS.ErrnoException): void => {
    const isGone = GONE.includes(error.code ?? '');
    // Who reads the first lines only has got what he wanted.
    this.end(isGone ? new InterruptedError('its reader', EXIT_CODES.done) : error);
  };

  /** Ends listening to signals; the reader of stdout may still go, which is nothing to report. */
  stop(): void {
    process.removeListener('SIGINT', this.onInt);
    process.removeListener('SIGTERM', this.onTerm);
  }

  private readonly onInt = (): void => this.end(new InterruptedError('SIGINT', EXIT_CODES.interrupted));
  private readonly onTerm = (): void => this.end(new InterruptedError('SIGTERM', EXIT_CODES.terminated));

  private end(reason: Error): void {
    this.controller.abort(reason);
  }
}
