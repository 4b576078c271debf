import ProgressReporter from './progress-reporter.cjs';

describe('the progress of a run', () => {
  let said: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    said = [];
    jest.spyOn(process.stderr, 'write').mockImplementation((line) => said.push(String(line)) > 0);
  });

  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('is told in every half minute in which no test file has ended, with what it waits for', () => {
    const reporter = new ProgressReporter();
    reporter.onRunStart({ numTotalTestSuites: 3 });
    reporter.onTestFileStart({ path: `${process.cwd()}/test/first.spec.ts` });
    reporter.onTestFileResult({ path: `${process.cwd()}/test/first.spec.ts` });
    reporter.onTestFileStart({ path: `${process.cwd()}/test/slow.spec.ts` });
    jest.advanceTimersByTime(29_000);
    expect(said).toEqual([]);
    jest.advanceTimersByTime(31_000);
    expect(said).toEqual([
      '1 of 3 test files done; now test/slow.spec.ts (30 s)\n',
      '1 of 3 test files done; now test/slow.spec.ts (60 s)\n',
    ]);
    reporter.onRunComplete();
    jest.advanceTimersByTime(60_000);
    expect(said).toHaveLength(2);
  });
});
