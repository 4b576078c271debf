import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, type Exit } from '../../support/processes/child.js';
import { run, runForJson, scriptCommand } from '../../support/processes/run.js';
import { findProgram, postgresFolders } from '../../support/servers/find-program.js';
import { until } from '../../support/until.js';
import type { ChaosReport } from './chaos-report.js';
import { CHAOS, longer, saysTooLittle } from './longer-runs.js';

/** Two workers for three processes: all is soon under way, and somebody waits for what is lost. */
const SMALL = '--only workers --pace 4 --seed 7 --processes 3 --workers 2';

/** The command as `npm run chaos` runs it, without the build. */
async function report(args: string, directory: string): Promise<ChaosReport & Pick<Exit, 'code'>> {
  const { code, answer } = await runForJson<ChaosReport>(CHAOS, [...args.split(' '), '--json'], {
    environment: { TMPDIR: directory },
    withinMs: 600_000,
  });
  return { code, ...answer };
}

jest.setTimeout(600_000);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'raindrop-chaos-spec-'));
  // The server runs as a user of its own, who keeps its temporary files there.
  chmodSync(directory, 0o1777);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('A short chaos run', () => {
  it.each(['sqlite', 'mariadb'])('on %s repeats no ID', async (db) => {
    if (db === 'mariadb') findProgram('mariadbd');
    const [faults, floor] =
      db === 'sqlite' ? ['kill,pause,net', 'kill=1,pause=1'] : ['kill,pause,net,db', 'kill=1,pause=1,databaseKill=1'];
    const asked = `${SMALL} --db ${db} --faults ${faults} --floor ${floor} --min-ids 20000`;
    const verdict = await longer(6, async (seconds) => {
      const each = await report(`${asked} --seconds ${seconds}`, directory);
      expect(each).toMatchObject({ unexpected: [], duplicates: 0, control: false });
      return saysTooLittle(each.failures) ? undefined : each;
    });
    expect(verdict).toMatchObject({ code: 0, failures: [], unexpected: [], duplicates: 0, control: false });
    expect(verdict.ids).toBeGreaterThan(20_000);
    expect(verdict.backfills).toBeGreaterThan(0);
  });

  it('on PostgreSQL, which issues IDs itself beside the processes and is killed meanwhile, repeats no ID', async () => {
    findProgram('postgres', postgresFolders());
    const asked = `${SMALL} --db postgres --faults kill,pause,net,db --floor kill=1,pause=1,databaseKill=1 --min-ids 20000`;
    const verdict = await longer(6, async (seconds) => {
      const each = await report(`${asked} --seconds ${seconds}`, directory);
      expect(each).toMatchObject({ unexpected: [], duplicates: 0, control: false });
      return saysTooLittle(each.failures) ? undefined : each;
    });
    expect(verdict).toMatchObject({ code: 0, failures: [], duplicates: 0 });
  });

  it("finds the IDs that the original's protocol repeats", async () => {
    const verdict = await longer(8, async (seconds) => {
      const each = await report(`${SMALL} --seconds ${seconds} --db sqlite --control --faults pause`, directory);
      return each.duplicates > 0 ? each : undefined;
    });
    expect(verdict).toMatchObject({ code: 0, failures: [], control: true });
    expect(verdict.duplicates).toBeGreaterThan(0);
    expect(verdict.examples[0]).toMatch(/^\d+ \(.*worker \d, lane \d, sequence \d+\) from process .* and process /);
  });

  it('fails when too little has happened, and keeps what there is', async () => {
    const verdict = await report(
      '--only workers --db sqlite --seconds 1 --processes 1 --faults pause --floor kill=1 --min-ids 1000000000',
      directory,
    );
    expect(verdict.code).toBe(1);
    expect(readdirSync(join(directory, readdirSync(directory)[0]!))).toContain('ids');
    expect(verdict.failures.join()).toMatch(/only \d+ IDs, 1000000000 wanted,kill fired 0 times, 1 wanted/);
  });
});

describe('The chaos command', () => {
  it.each([
    ['', "required option '--db <kind>' not specified"],
    ['--db oracle', 'Allowed choices are mariadb, postgres, sqlite'],
    ['--db sqlite --faults fire', "'fire' is none of kill, pause, net, clock, db"],
    ['--db sqlite --faults db', '--faults db needs a server'],
    ['--db sqlite --seconds 0', 'whole number from 1'],
    ['--db sqlite --floor kill', "'kill' is not name=count"],
  ])('refuses "%s" in one line', async (args, message) => {
    const { code, stdout, stderr } = await run(scriptCommand(CHAOS, args.split(' ').filter(Boolean)));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  describe('that is ended early', () => {
    const processes = (): string[] =>
      execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
        .split('\n')
        .filter((each) => each.includes(directory));

    async function started(args: string): Promise<Child> {
      const command = scriptCommand(CHAOS, args.split(' '));
      const child = new Child(command, { environment: { TMPDIR: directory } });
      await child.says(/started/);
      expect(processes().length).toBeGreaterThanOrEqual(3);
      return child;
    }

    it('by Ctrl-C leaves nothing behind', async () => {
      const child = await started('--db sqlite --processes 3 --seconds 300 --faults kill');
      expect(await child.end('SIGINT')).toMatchObject({ code: 130 });
      expect(child.stdout).toBe('');
      expect(processes()).toEqual([]);
      expect(readdirSync(directory)).toEqual([]);
    });

    it('by kill -9 takes its processes with it', async () => {
      const child = await started('--db mariadb --processes 3 --seconds 300 --faults kill');
      await child.end('SIGKILL');
      await until('all of them to end', () => processes().length === 0, { withinMs: 60_000 });
    });
  });
});
