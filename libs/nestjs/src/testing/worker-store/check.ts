import assert from 'node:assert/strict';
import { hostTimers, monotonicClock } from '@raindrop/node/internal';

/** The same data, made here: what comes from another realm, as runners have them, is of other classes. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

/** @throws AssertionError when the data differ */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [plain(actual), plain(expected)];
  try {
    assert.deepEqual(found, wanted);
  } catch (error) {
    const message = `${what}\n${error instanceof Error ? error.message : String(error)}`;
    throw new assert.AssertionError({ message, actual: found, expected: wanted, operator: 'deepStrictEqual' });
  }
}

/** Compares only what is expected. @throws AssertionError */
export function has<T extends object>(actual: T | undefined, expected: Partial<T>, what: string): void {
  const found = actual && Object.keys(expected).map((key) => [key, actual[key as keyof T]] as const);
  same(found && Object.fromEntries(found), expected, what);
}

/** Both ends count. @throws AssertionError */
export function between(value: number, least: number, most: number, what: string): void {
  assert.ok(value >= least && value <= most, `${what}: ${value} is not in ${least} to ${most}`);
}

const LOOK_AGAIN_MS = 5;
const DEADLINE_MS = 20_000;

/** Waits until `probe` is true. @throws AssertionError when it is not within 20 s */
export async function until(what: string, probe: () => Promise<boolean>): Promise<void> {
  const deadline = monotonicClock.now() + DEADLINE_MS;
  while (!(await probe())) {
    assert.ok(monotonicClock.now() < deadline, `${what}: not within ${DEADLINE_MS} ms`);
    await hostTimers.sleep(LOOK_AGAIN_MS);
  }
}
