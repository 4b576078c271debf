import { ConfigurationError } from '../config/option-reader.js';
import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { resolveOptions } from '../config/option-rules.js';
import { segmentOptions, type SegmentOptions } from './segment-options.js';

describe('The segment options', () => {
  it('have the documented defaults', () => {
    expect(resolveOptions(segmentOptions, {})).toEqual({
      prefetchBelow: 0.9,
      maxStep: 1_000_000,
      chain: undefined,
      defaultCode: 'default',
      maxCodes: 10_000,
      maxBatch: 100_000,
      asyncTimeoutMs: 3_000,
      opTimeoutMs: 3_000,
      retryBaseMs: 50,
      retryMaxMs: 5_000,
    });
  });

  it('make a chain of true and of what it is to differ in', () => {
    expect(resolveOptions(segmentOptions, { chain: true }).chain).toEqual({ safeDistance: 2, maxBuffered: 4_000_000 });
    expect(resolveOptions(segmentOptions, { chain: { safeDistance: 5 }, maxStep: 10 }).chain).toEqual({
      safeDistance: 5,
      maxBuffered: 40,
    });
    expect(resolveOptions(segmentOptions, { chain: false }).chain).toBeUndefined();
  });

  it('let the longest pause grow with the first one', () => {
    expect(resolveOptions(segmentOptions, { retryBaseMs: 20_000 }).retryMaxMs).toBe(20_000);
  });

  it.each([
    [{ prefetchBelow: 1.1 }, 'prefetchBelow = 1.1: must be a number from 0 to 1'],
    [{ prefetchBelow: Number.NaN }, 'prefetchBelow = NaN'],
    [{ prefetchBelow: '0.5' }, 'prefetchBelow = "0.5"'],
    [{ maxStep: 0 }, 'maxStep = 0: is out of range'],
    [{ chain: 2 }, 'chain = 2: must be true, false or { safeDistance, maxBuffered }'],
    [{ chain: { safeDistance: 0 } }, 'chain.safeDistance = 0: is out of range: must be an integer from 1 to 1000'],
    [{ chain: { safedistance: 3 } }, 'chain.safedistance = (number): is not an option; did you mean safeDistance?'],
    [{ retryBaseMs: 100, retryMaxMs: 99 }, 'retryMaxMs = 99: is out of range: must be an integer from 100'],
    [{ defaultCode: '' }, 'defaultCode = "": must be a string of 1 to 128 characters'],
    [{ prefetchBelw: 0.5 }, 'prefetchBelw = (number): is not an option; did you mean prefetchBelow?'],
  ])('refuse %j', (given, says) => {
    const error = thrownBy(() => resolveOptions(segmentOptions, given as SegmentOptions));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toContain(says);
  });

  it('report everything that is wrong together', () => {
    const error = thrownBy(() =>
      resolveOptions(segmentOptions, { maxStep: 0, chain: { maxBuffered: -1 }, maxBatch: 0 }),
    );
    expect((error as ConfigurationError).problems.map(({ option }) => option)).toEqual([
      'maxStep',
      'chain.maxBuffered',
      'maxBatch',
    ]);
  });
});
