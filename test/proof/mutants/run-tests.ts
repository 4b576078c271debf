import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Child } from '../../support/processes/child.js';
import { LEDGER_VARIABLE } from '../../support/servers/run-ledger.js';

const jest = join(dirname(createRequire(__filename).resolve('jest/package.json')), 'bin/jest.js');

/** What became of the tests that were run. */
export interface TestOutcome {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** Why they failed, in the words of jest. */
  readonly reasons: readonly string[];
}

interface JestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * Runs tests of a copy of the sources.
 * @param pattern what their full names contain
 * @throws Error when a file cannot be run at all: that would tell nothing of a fault
 */
export async function runTests(directory: string, specs: readonly string[], pattern: string): Promise<TestOutcome> {
  const report = join(directory, 'jest-report.json');
  rmSync(report, { force: true });
  const args = ['--runInBand', '--silent', '--json', `--outputFile=${report}`, `--cacheDirectory=${directory}/.jest`];
  const command = [
    process.execPath,
    jest,
    ...args,
    '--testNamePattern',
    pattern,
    '--runTestsByPath',
    ...specs,
  ] as const;
  // Each run clears its own databases away, and not those of the others. All that a test does may notice a fault.
  const environment = { [LEDGER_VARIABLE]: undefined, RAINDROP_TEST_TIER: 'every' };
  const child = new Child(command, { cwd: directory, environment, stdio: ['ignore', 'ignore', 'pipe'] });
  await child.ended;
  const { testResults } = JSON.parse(readReport(report, child.stderr)) as JestReport;
  const unfit = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (unfit !== undefined) throw new Error(`${unfit.name} cannot be run:\n${unfit.message}`);
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const having = (wanted: string): string[] =>
    all.filter(({ status }) => status === wanted).map(({ fullName }) => fullName);
  const reasons = all.flatMap(({ fullName, failureMessages }) => failureMessages.map((why) => `${fullName}\n${why}`));
  return { passed: having('passed'), failed: having('failed'), reasons };
}

function readReport(path: string, said: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Error(`jest has left no report:\n${said}`);
  }
}
