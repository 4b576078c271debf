/**
 * Runs failed test files once more, alone: `node .ci/second-try.mjs RESULTS.json`. Only those that wait for browsers,
 * commands and whole services, which may miss a deadline while everything else runs beside them; what failed stays in
 * the log. No test of what is promised gets a second try: there one failure is one too many.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const MAY_BE_LATE = /^test\/(cli|demo|deploy|docs|examples|page|readme)\//;
const MOST_FILES = 3;

const [results] = process.argv.slice(2);
const first = JSON.parse(readFileSync(results, 'utf8'));
const failed = first.testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
const promised = failed.filter((file) => !MAY_BE_LATE.test(file));
if (failed.length === 0 || failed.length > MOST_FILES || promised.length > 0) process.exit(1);

console.log(`\n== second try, alone: ${failed.join(', ')}`);
const args = ['jest', '--runInBand', '--json', `--outputFile=${results}.again`, '--runTestsByPath', ...failed];
const { status } = spawnSync('npx', args, { stdio: 'inherit' });
if (status !== 0) process.exit(1);
const { numFailedTests: cured, numRuntimeErrorTestSuites: loaded } = first;
const numPassedTests = first.numPassedTests + cured;
writeFileSync(results, JSON.stringify({ ...first, numPassedTests, numFailedTests: 0, numRuntimeErrorTestSuites: 0 }));
console.log(`== passed alone: ${cured} tests that failed beside others, ${loaded} files that did not load`);
