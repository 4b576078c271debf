const NAME = 'MissingForTests';

/**
 * Something that tests need is not on this machine and could not be had. A test that meets it is left out of the run,
 * not failed: see missing-environment.ts.
 */
export class MissingForTests extends Error {
  constructor(
    /** In the words of the run's last lines: `MariaDB`, `Chromium`. */
    readonly what: string,
    /** Why it is not there, and what to install. */
    readonly reason: string,
  ) {
    super(`${what} is missing: ${reason}`);
    this.name = NAME;
  }
}

/** Whether an error is one of the above, also one of another realm: jest gives each test file its own classes. */
export function isMissingForTests(error: unknown): error is MissingForTests {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === NAME;
}
