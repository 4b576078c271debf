import { runForJson } from '../../../support/processes/run.js';
import { findProgram } from '../../../support/servers/find-program.js';
import { CHAOS, longer } from '../longer-runs.js';
import type { SegmentReport } from './segment-report.js';

/** The command as `npm run chaos` runs it, without the build. */
async function segments(args: string): Promise<SegmentReport> {
  findProgram('redis-server');
  const all = ['--only', 'segments', '--json', ...args.split(' ')];
  return (await runForJson<SegmentReport>(CHAOS, all, { withinMs: 600_000 })).answer;
}

jest.setTimeout(600_000);

describe('A short chaos run over segments', () => {
  it('repeats no number, and every number that is lost has its reason', async () => {
    const asked = '--db sqlite --seed 7 --processes 3 --segment-pace 4 --min-numbers 20000';
    await longer(4, async (seconds) => {
      const run = (): Promise<SegmentReport> => segments(`${asked} --segment-seconds ${seconds}`);
      const once = await run();
      // Redis may take a range whose push the process saw fail. The journal has no reason for that gap, so one run may show
      // it on a busy machine; a fault of the store shows in the second run as well. A repeated number fails the first.
      const report = once.unexplained === 0 ? once : await run();
      expect(once).toMatchObject({ unexpected: [], duplicates: 0 });
      // In so short a run not every fault that was planned comes to happen.
      expect(report.failures.filter((each) => !/ fired \d+ times|^only \d+ numbers/.test(each))).toEqual([]);
      expect(report).toMatchObject({ unexpected: [], duplicates: 0, unexplained: 0 });
      const happened = ['kill', 'pause', 'redisFlush'].every((fault) => (report.fired[fault] ?? 0) > 0);
      return happened && report.numbers >= 20_000 && report.lostBy.killed !== undefined ? report : undefined;
    });
  });
});
