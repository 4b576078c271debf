import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const hook = resolve(__dirname, '../../../../test/typescript-hook.cjs');

/** Runs under Node's own test runner. */
const script = `
  const { test } = require('node:test');
  const { createTestIdService } = require(${JSON.stringify(join(__dirname, 'index.ts'))});
  test('issues', async () => {
    const { ids, clock } = createTestIdService({ sequenceStart: 'random' });
    const first = ids.nextString();
    clock.set('2026-03-29');
    await clock.advance(3_600_000);
    console.log('ids ' + first + ' ' + (await ids.nextStringsAsync(2, 'a')).join(' '));
  });`;

it('issues the same IDs in another process, time zone and test runner, and lets it end', () => {
  const run = (TZ: string): string => {
    const output = execFileSync(process.execPath, ['--require', hook, '--eval', script], {
      encoding: 'utf8',
      timeout: 80_000,
      env: { ...process.env, TZ },
    });
    return /ids .*/.exec(output)![0];
  };
  expect(run('Pacific/Auckland')).toBe('ids 67815815618001168 75890783631228176 75890783631228178');
  expect(run('America/Caracas')).toBe(run('Pacific/Auckland'));
});
