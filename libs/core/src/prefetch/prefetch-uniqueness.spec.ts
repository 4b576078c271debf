import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { Fetcher } from './prefetcher.js';
import type { Fault } from '../../../../test/support/engine/fault-store.js';
import { AgingBuffer } from './aging-buffer.js';
import { BatchPolicy } from './batch-policy.js';
import { simulate, type Step } from '../../../../test/support/engine/prefetch-simulation.js';

const RUNS = Number(process.env['RAINDROP_SCHEDULES'] ?? runs(300));

/** Within so many runs every broken rule must show. */
const CAUGHT_WITHIN = 300;

const count = fc.integer({ min: 1, max: 50 });
const code = fc.constantFrom(undefined, undefined, 'a', 'b');
const ms = fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 1_500 }));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('now' as const, 'soon' as const), count, code }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), count, afterMs: ms }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('pass' as const, 'freeze' as const), ms }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sleep' as const), ms }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restore' as const }) },
);
const fault: fc.Arbitrary<Fault | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant({ kind: 'refused' as const }),
  fc.constant({ kind: 'answer-lost' as const }),
  fc.constant({ kind: 'hangs' as const }),
  fc.record({ kind: fc.constant('ghost' as const), afterMs: ms }),
  fc.record({
    kind: fc.constant('slow' as const),
    thereMs: fc.integer({ min: 0, max: 150 }),
    backMs: fc.integer({ min: 0, max: 300 }),
  }),
);
const schedule = fc.record({
  steps: fc.array(step, { minLength: 20, maxLength: 80 }),
  faults: fc.array(fault, { maxLength: 12 }),
  closes: fc.boolean(),
});

/** What goes wrong first that sounds like this; undefined when nothing does in so many schedules. */
async function violation(
  numRuns: number,
  like = '',
  seen = { issued: 0, happened: new Set<string>() },
): Promise<string | undefined> {
  for (const { steps, faults, closes } of fc.sample(schedule, { numRuns, seed: 7 })) {
    const all: Step[] = closes ? [...steps, { do: 'close' }] : steps;
    const { violations, issued, happened } = await simulate(all, faults);
    const found = violations.find((each) => each.includes(like));
    if (found !== undefined) return found;
    seen.issued += issued;
    for (const what of happened) seen.happened.add(what);
  }
  return undefined;
}

/** Puts something in the place of a method or a getter, until the test is over. */
const mends: (() => void)[] = [];
function replace(owner: object, name: string, descriptor: PropertyDescriptor): void {
  const original = Object.getOwnPropertyDescriptor(owner, name)!;
  Object.defineProperty(owner, name, { ...original, ...descriptor });
  mends.push(() => void Object.defineProperty(owner, name, original));
}
afterEach(() => mends.splice(0).forEach((mend) => mend()));

it('No ID is handed out twice, out of order or too old, and every waiting caller is answered, whatever happens', async () => {
  const seen = { issued: 0, happened: new Set<string>() };
  expect(await violation(RUNS, '', seen)).toBeUndefined();
  expect(seen.issued).toBeGreaterThan(RUNS * 50);
  const expected = ['now', 'soon', 'abort', 'pass', 'freeze', 'sleep', 'restore', 'close', 'enough'];
  expected.push('refused', 'answer-lost', 'hangs', 'ghost', 'slow');
  expected.push('IdsNotReadyError', 'WaitTimeoutError', 'ClosedError');
  expect(expected.filter((what) => !seen.happened.has(what))).toEqual([]);
});

describe('The simulation finds it when', () => {
  it('an ID stays in the queue after it was taken', async () => {
    const { take } = AgingBuffer.prototype;
    replace(AgingBuffer.prototype, 'take', {
      value(this: { index: number; left: number }, wanted: number) {
        const taken = take.call(this as unknown as AgingBuffer, wanted);
        if (this.index > 0) {
          this.index--;
          this.left++;
        }
        return taken;
      },
    });
    expect(await violation(CAUGHT_WITHIN, 'twice')).toBeDefined();
  });

  it('a copy keeps what was at hand', async () => {
    replace(AgingBuffer.prototype, 'clear', { value: () => undefined });
    expect(await violation(CAUGHT_WITHIN, 'twice')).toBeDefined();
  });

  it('a copy uses the answer that was under way', async () => {
    replace(Fetcher.prototype, 'forget', { value: () => undefined });
    expect(await violation(CAUGHT_WITHIN, 'twice')).toBeDefined();
  });

  it('a late answer is used', async () => {
    replace(BatchPolicy.prototype, 'usesLateAnswers', { get: () => true });
    expect(await violation(CAUGHT_WITHIN, 'came after')).toBeDefined();
  });

  it('an ID is handed out however old it is', async () => {
    replace(AgingBuffer.prototype, 'dropOld', { value: () => 0 });
    expect(await violation(CAUGHT_WITHIN, 'too old')).toBeDefined();
  });

  it('an ID gets no older while the host sleeps', async () => {
    const { dropOld } = AgingBuffer.prototype;
    replace(AgingBuffer.prototype, 'dropOld', {
      value(this: AgingBuffer, now: number) {
        return dropOld.call(this, now, Number.NEGATIVE_INFINITY);
      },
    });
    expect(await violation(CAUGHT_WITHIN, 'too old')).toBeDefined();
  });

  it('two requests go out at once', async () => {
    replace(Fetcher.prototype, 'isFetching', { get: () => false });
    expect(await violation(CAUGHT_WITHIN, 'two requests are under way')).toBeDefined();
  });
});
