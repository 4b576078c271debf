import { RaindropError } from '@raindrop/core';

/** The state file holds what Raindrop has not written; nothing is guessed, and nothing begins from zero. */
export class StateFileCorruptError extends RaindropError {
  readonly errorCode = 'STATE_FILE_CORRUPT';

  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(
      `stateFile ${path} cannot be used: ${reason}. It holds how far IDs were issued. Restore it only from a copy that is ` +
        `newer than every ID, or remove it when the clock is past all of them.`,
      { retryable: false },
    );
  }
}

/** The state file cannot be made, read or written where it is to be. */
export class StateFileUnusableError extends RaindropError {
  readonly errorCode = 'STATE_FILE_UNUSABLE';

  constructor(
    readonly path: string,
    readonly reason: string,
    /** Node's code, such as `EACCES`. */
    readonly systemCode: string,
  ) {
    super(`stateFile ${path} cannot be used: ${reason} (${systemCode}).`, { retryable: false });
  }

  /** The error in question where no second try helps; any other one as it is. */
  static from(path: string, error: unknown): unknown {
    const code = systemCodeOf(error);
    const reason = REASONS[code];
    return reason === undefined ? error : new StateFileUnusableError(path, reason, code);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the directory it is to be in does not exist; create it, or name another one',
  EACCES: 'this process may not write there; give it the right to, or name another place',
  EPERM: 'the system does not permit it; name a place on a local disk',
  EROFS: 'the file system is read-only; name a place that can be written',
  ENOTDIR:
    'something in its path is no directory (Raindrop keeps its state in a directory of that name); name another one',
  EXDEV: 'it is part of an image, or a mount point; name a place inside a volume',
  EBUSY: 'it is a mount point; name a place inside of it',
  ELOOP: 'its path is a ring of links; name another one',
  ENAMETOOLONG: 'its path is too long; name a shorter one',
};

/** Node's code of a failed call; '' when there is none. */
export function systemCodeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
