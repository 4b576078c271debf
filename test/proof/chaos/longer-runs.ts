import { join } from 'node:path';

/** What `npm run chaos` runs. */
export const CHAOS = join(__dirname, 'command/chaos.ts');

const MOST_RUNS = 4;

/**
 * Runs chaos until it has shown what it is there to show, each time for twice as many seconds: how much happens in a
 * second is the machine's business. What has to hold in every run is for `run` to check.
 *
 * @param run gives undefined when too little has happened
 */
export async function longer<T>(seconds: number, run: (seconds: number) => Promise<T | undefined>): Promise<T> {
  for (let runs = 0; runs < MOST_RUNS; runs++) {
    const shown = await run(seconds * 2 ** runs);
    if (shown !== undefined) return shown;
  }
  throw new Error(`too little has happened in ${MOST_RUNS} runs, the last of ${seconds * 2 ** (MOST_RUNS - 1)} s`);
}

/** Whether the failures of a run are only that there was not enough of something. */
export function saysTooLittle(failures: readonly string[]): boolean {
  return failures.length > 0 && failures.every((each) => / fired \d+ times|^only \d+ /.test(each));
}
