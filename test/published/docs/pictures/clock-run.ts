import { createTestIdService } from '@raindrop/nestjs/testing';

const START = '2026-06-01T12:00:00Z';

/** One call, and what the clock said. All of them in seconds since the start. */
export interface Call {
  /** That really passed. */
  readonly passed: number;
  readonly clock: number;
  /** Of the ID. */
  readonly tick: number;
  readonly lane: number;
  readonly id: bigint;
}

/** After how many seconds the clock is put by how many. */
const JUMPS: ReadonlyMap<number, number> = new Map([
  [12, -8],
  [20, -4],
  [28, 12],
]);
const SECONDS = 36;

/** A worker that issues an ID a second, while its clock goes back twice and then forward again. */
export async function clockRun(): Promise<Call[]> {
  const { ids, clock } = createTestIdService({ now: START });
  const calls: Call[] = [];
  for (let passed = 0; passed < SECONDS; passed++) {
    const jump = JUMPS.get(passed);
    if (jump !== undefined) clock.set(new Date(clock.now() + jump * 1e3));
    const id = ids.nextId();
    const { time, clockBack } = ids.parse(id);
    const since = (ms: number): number => (ms - Date.parse(START)) / 1e3;
    calls.push({ passed, clock: since(clock.now()), tick: since(time.getTime()), lane: clockBack, id });
    await clock.advance(1e3);
  }
  return calls;
}
