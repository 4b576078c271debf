import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { closeLedger, LEDGER_VARIABLE, openLedger } from '../servers/run-ledger';

const root = resolve(__dirname, '../../..');

/** Runs the fixture in a jest of its own, with the environment of this workspace. */
function runFixture(environment: NodeJS.ProcessEnv): Outcome {
  const ledger = openLedger();
  const env = { ...process.env, RAINDROP_TEST_TIER: 'unit', ...environment, [LEDGER_VARIABLE]: ledger };
  const jest = ['node_modules/jest/bin/jest.js', '--json', '--runInBand', '--config', 'jest.config.cjs'];
  const args = [...jest, '--testRegex', 'lacking\\.fixture\\.ts$'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
  const { numPassedTests: passed, numPendingTests: skipped } = JSON.parse(stdout) as Record<string, number>;
  return { code: status, passed, skipped, leftOut: closeLedger(ledger).leftOut.length };
}

interface Outcome {
  readonly code: number | null;
  readonly passed: number | undefined;
  readonly skipped: number | undefined;
  readonly leftOut: number;
}

describe('a test that met something missing', () => {
  it('is left out and noted, and its hooks do not fail the run', () => {
    const usual = { RAINDROP_TEST_REQUIRE: '' };
    expect(runFixture(usual)).toEqual({ code: 0, passed: 1, skipped: 3, leftOut: 3 });
  });

  it('hides no failure beside it', () => {
    const failing = { RAINDROP_TEST_REQUIRE: '', RAINDROP_FIXTURE_FAILS: '1' };
    expect(runFixture(failing)).toEqual({ code: 1, passed: 1, skipped: 3, leftOut: 3 });
  });

  it('fails where nothing may be missing', () => {
    expect(runFixture({ RAINDROP_TEST_REQUIRE: 'all' })).toMatchObject({ code: 1, passed: 1, leftOut: 0 });
  });
});
