import { ObtainedServer } from '../servers/obtain-server';

/** What the global set-up leaves for the global tear-down; both run in jest's own process. */
export interface TestRun {
  readonly servers: readonly ObtainedServer[];
  /** Variables that the set-up added to the environment, so that a second run in watch mode starts from scratch. */
  readonly variables: readonly string[];
  /** Where everything of the run lives, which TMPDIR names meanwhile. */
  readonly directory: string;
  readonly usualTmpdir: string | undefined;
}

const KEY = Symbol.for('raindrop.test-run');
const shared = globalThis as { [KEY]?: TestRun };

export function rememberTestRun(run: TestRun): void {
  shared[KEY] = run;
}

/** Gives the run once and forgets it; undefined when the set-up did not come to its end. */
export function takeTestRun(): TestRun | undefined {
  const run = shared[KEY];
  delete shared[KEY];
  return run;
}
