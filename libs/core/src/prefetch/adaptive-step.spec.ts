import { AdaptiveStep } from './adaptive-step.js';

const MINUTE = 60_000;

/** The step after segments that lasted so many minutes each. */
function stepAfter(minutes: number[], { rowStep = 1_000, maxStep = 1_000_000 } = {}): number {
  const step = new AdaptiveStep(maxStep);
  step.learn(rowStep);
  let at = 0;
  step.began(at);
  for (const each of minutes) step.began((at += each * MINUTE));
  return step.current;
}

describe('The adaptive step', () => {
  it.each([
    ['is the row’s own at first', [], 1_000],
    ['doubles when a segment is used up in under 15 minutes', [14.99], 2_000],
    ['stays when it lasts 15 minutes', [15], 1_000],
    ['stays when it lasts 30', [1, 30], 2_000],
    ['halves when it lasts longer', [1, 1, 30.01], 2_000],
    ['never goes below the row’s own', [1, 31, 31, 31], 1_000],
    ['comes back after a busy hour', [1, 1, 1, 1, 31, 31], 4_000],
  ])('%s', (_, minutes, expected) => expect(stepAfter(minutes)).toBe(expected));

  it('grows to maxStep and no further', () => {
    expect(stepAfter(Array<number>(12).fill(1))).toBe(1_000_000);
    expect(stepAfter([1], { maxStep: 1_500 })).toBe(1_500);
  });

  it('is the row’s own where that is larger than maxStep', () => {
    expect(stepAfter([1, 1], { rowStep: 5_000, maxStep: 1_000 })).toBe(5_000);
  });

  it('follows the row when its step is raised', () => {
    const step = new AdaptiveStep(1_000_000);
    step.learn(1_000);
    step.learn(7_000);
    expect(step.current).toBe(7_000);
  });

  it('does not take the time before a restart for a segment’s', () => {
    const step = new AdaptiveStep(1_000_000);
    step.learn(1_000);
    step.began(0);
    step.restart();
    step.began(1);
    expect(step.current).toBe(1_000);
  });
});
