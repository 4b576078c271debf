import { GeneratorBench } from '../../../../test/support/engine/generator-bench.js';

describe('asking why an ID would be refused', () => {
  it('issues nothing, counts nothing, and says nothing while there is one', () => {
    const bench = new GeneratorBench();
    const first = bench.next();
    const { counters } = bench.generator;
    for (let each = 0; each < 20; each++) expect(bench.generator.refusal()).toBeUndefined();
    expect(bench.generator.counters).toEqual(counters);
    expect(bench.next()).toBe(first.replace(/0$/, '1'));
  });

  it('names the error that the next call would throw, of the code that is asked for', () => {
    const bench = new GeneratorBench({ unitMs: 3_600_000, wall: 3_600_000_000, options: { onExhausted: 'throw' } });
    bench.take(4);
    expect(bench.generator.refusal()).toMatchObject({ errorCode: 'SEQUENCE_EXHAUSTED' });
    expect(() => bench.next()).toThrow(expect.objectContaining({ errorCode: 'SEQUENCE_EXHAUSTED' }) as Error);
    expect(bench.generator.refusal('another')).toBeUndefined();
  });

  it('sees a clock that stays behind both lanes', () => {
    const bench = new GeneratorBench({ clockBack: false, options: { maxHoldMs: 500 } });
    bench.next();
    bench.time.step(-60_000);
    expect(bench.generator.refusal()).toBeUndefined();
    bench.next();
    bench.time.freeze(501);
    expect(bench.generator.refusal()).toMatchObject({ errorCode: 'CLOCK_MOVED_BACK' });
    expect(() => bench.next()).toThrow(expect.objectContaining({ errorCode: 'CLOCK_MOVED_BACK' }) as Error);
  });
});
