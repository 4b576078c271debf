import { runForJson } from '../../support/processes/run.js';
import { findProgram } from '../../support/servers/find-program.js';
import type { ChaosReport } from './chaos-report.js';
import { CHAOS, longer, saysTooLittle } from './longer-runs.js';

/** The command as `npm run chaos` runs it, without the build. */
async function chaos(args: string): Promise<ChaosReport> {
  findProgram('redis-server');
  const all = ['--db', 'redis', '--json', ...args.split(' ')];
  return (await runForJson<ChaosReport>(CHAOS, all, { withinMs: 600_000 })).answer;
}

/** Two workers for three processes: somebody waits for what is lost. */
const SMALL = '--only workers --processes 3 --workers 2';

jest.setTimeout(600_000);

describe('A short chaos run with worker ids from a Redis that loses its memory', () => {
  it('repeats no ID', async () => {
    const floors =
      '--floor kill=3,pause=1,redisFlush=1,redisSnapshot=1,late=0,cutBefore=0,unanswered=0,refused=0 --min-ids 20000';
    const asked = `${SMALL} --seed 7 --pace 3 --faults kill,pause,net,db ${floors}`;
    const report = await longer(10, async (seconds) => {
      const each = await chaos(`${asked} --seconds ${seconds}`);
      expect(each).toMatchObject({ unexpected: [], duplicates: 0, control: false });
      return saysTooLittle(each.failures) ? undefined : each;
    });
    expect(report).toMatchObject({ failures: [], unexpected: [], duplicates: 0, control: false });
    expect(report.ids).toBeGreaterThan(20_000);
  });

  it('finds the IDs that repeat when no process waits after a loss', async () => {
    // Only who takes a row just after a loss repeats IDs: a run can go by without that.
    const report = await longer(8, async (seconds) => {
      const each = await chaos(`${SMALL} --seed 7 --seconds ${seconds} --pace 4 --faults kill,db --control`);
      return each.duplicates > 0 ? each : undefined;
    });
    expect(report).toMatchObject({ failures: [], control: true });
    expect(report.duplicates).toBeGreaterThan(0);
  });

  it.each([
    ['--only segments', '--db redis needs --only workers'],
    ['--only workers --unit hour', '--unit hour would wait'],
  ])('is not to be had with %s', async (args, message) => {
    await expect(chaos(args)).rejects.toThrow(message);
  });
});
