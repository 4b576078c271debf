import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import type { SegmentReport } from './segment-report.js';

const ROOT = resolve(__dirname, '../../..');

/** The command as `npm run chaos` runs it, without the build. */
function segments(args: string): Promise<SegmentReport> {
  const script = ['--require', './test/typescript-hook.cjs', 'test/chaos/chaos.ts', '--only', 'segments', '--json'];
  return new Promise((settle, fail) => {
    execFile(process.execPath, [...script, ...args.split(' ')], { cwd: ROOT }, (_, stdout, stderr) => {
      if (stdout === '') fail(new Error(stderr));
      else settle(JSON.parse(stdout) as SegmentReport);
    });
  });
}

jest.setTimeout(60_000);

describe('A short chaos run over segments', () => {
  it('repeats no number, and every number that is lost has its reason', async () => {
    const floors = 'kill=1,pause=1,redisFlush=1';
    const report = await segments(
      `--db sqlite --seed 7 --processes 3 --segment-seconds 4 --segment-pace 4 --segment-floor ${floors} --min-numbers 20000`,
    );
    expect(report).toMatchObject({ failures: [], unexpected: [], duplicates: 0, unexplained: 0 });
    expect(report.lostBy).toHaveProperty('killed');
  });
});
