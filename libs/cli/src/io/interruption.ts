import { EXIT_CODES, type ExitCode } from '../exit-codes.js';

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

/**
 * Turns SIGINT, SIGTERM and a reader of stdout that has gone (`| head`) into one AbortSignal. A second signal ends the
 * process at once, as if nobody listened.
 */
export class Interruption {
  private readonly controller = new AbortController();

  constructor(stdout: NodeJS.WritableStream) {
    process.once('SIGINT', this.onInt);
    process.once('SIGTERM', this.onTerm);
    stdout.on('error', this.onError);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** @throws InterruptedError when the command was ended */
  check(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** Ends listening to signals; the reader of stdout may still go, which is nothing to report. */
  stop(): void {
    process.removeListener('SIGINT', this.onInt);
    process.removeListener('SIGTERM', this.onTerm);
  }

  private readonly onInt = (): void => this.end(new InterruptedError('SIGINT', EXIT_CODES.interrupted));
  private readonly onTerm = (): void => this.end(new InterruptedError('SIGTERM', EXIT_CODES.terminated));

  private readonly onError = (error: NodeJS.ErrnoException): void => {
    const isGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
    // Who reads the first lines only has got what he wanted.
    this.end(isGone ? new InterruptedError('its reader', EXIT_CODES.done) : error);
  };

  private end(reason: Error): void {
    this.controller.abort(reason);
  }
}
