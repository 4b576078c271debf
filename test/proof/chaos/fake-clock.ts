import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** libfaketime is not installed, so that no clock can be put wrong. */
export class FaketimeMissingError extends Error {
  constructor() {
    super(`--faults clock needs libfaketimeMT.so.1, which is not installed (Debian: apt-get install faketime)`);
    this.name = 'FaketimeMissingError';
  }
}

/** @throws FaketimeMissingError */
export function findFaketime(roots: readonly string[] = ['/usr/lib', '/usr/local/lib']): string {
  const folders = roots.flatMap((lib) => [
    join(lib, 'faketime'),
    ...(existsSync(lib) ? readdirSync(lib).map((each) => join(lib, each, 'faketime')) : []),
  ]);
  const library = folders.map((folder) => join(folder, 'libfaketimeMT.so.1')).find((file) => existsSync(file));
  if (library === undefined) throw new FaketimeMissingError();
  return library;
}

/** The wall clock of one process and its successors, which can be put wrong while it runs. */
export class FakeClock {
  constructor(
    private readonly library: string,
    private readonly file: string,
  ) {
    this.step(0);
  }

  /** What a process needs in its environment. The monotonic clock and the timers stay right. */
  get environment(): NodeJS.ProcessEnv {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Puts the clock `byMs` away from the right time, not from where it was. */
  step(byMs: number): void {
    // Renamed, so that no reader gets half a number.
    writeFileSync(`${this.file}.new`, `${byMs < 0 ? '-' : '+'}${(Math.abs(byMs) / 1_000).toFixed(3)}`);
    renameSync(`${this.file}.new`, this.file);
  }
}
