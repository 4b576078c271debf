declare class ProgressReporter {
  onRunStart(results: { numTotalTestSuites: number }): void;
  onTestFileStart(test: { path: string }): void;
  onTestFileResult(test: { path: string }): void;
  onRunComplete(): void;
}
export = ProgressReporter;
