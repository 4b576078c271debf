import { PermanentError, RaindropError } from '../raindrop-error.js';

/** An assigner of worker ids failed, or answered what cannot be used. Nobody else is asked in its place. */
export class WorkerIdAssignerError extends RaindropError {
  readonly errorCode = 'WORKER_ID_ASSIGNER';

  constructor(
    readonly assigner: string,
    reason: string,
    retryable: boolean,
    cause?: unknown,
  ) {
    super(`The worker id assigner '${assigner}' gave no worker id: ${reason}.`, { retryable, cause });
  }

  /** Our own errors keep their name; whatever else an assigner throws may pass. */
  static of(assigner: string, call: string, error: unknown): RaindropError {
    if (error instanceof RaindropError) return error;
    const reason = error instanceof Error ? error.message : 'something that is no Error';
    return new WorkerIdAssignerError(assigner, `its ${call}() threw: ${reason}`, true, error);
  }
}

/** None of the assigners that were asked has a worker id to give. */
export class NoWorkerIdError extends PermanentError {
  readonly errorCode = 'NO_WORKER_ID';

  constructor(
    readonly assigners: readonly string[],
    hint = '',
  ) {
    const asked = assigners.map((each) => `'${each}'`).join(', ');
    super(`No worker id: none was found by ${asked}.${hint === '' ? '' : ` ${hint}`}`);
  }
}
