import { OneAtATime } from './one-at-a-time.js';

describe('OneAtATime', () => {
  it('begins a piece of work when the one before has ended, and goes on after a failure', async () => {
    const line = new OneAtATime();
    const seen: string[] = [];
    const work =
      (name: string, fails = false) =>
      async (): Promise<string> => {
        seen.push(`${name} begins`);
        await Promise.resolve();
        seen.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      };
    const outcomes = await Promise.allSettled([line.run(work('a')), line.run(work('b', true)), line.run(work('c'))]);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
