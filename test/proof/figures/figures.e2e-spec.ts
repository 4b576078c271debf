import { resolve } from 'node:path';
import { run, scriptCommand, type Ended } from '../../support/processes/run.js';
import type { Measurement } from './figure.js';

// The times themselves are judged by `npm run figures` only.
jest.setTimeout(240_000);

/** Runs the script; its exit code only says whether this machine was quick enough. */
const figures = (...args: string[]): Promise<Ended> => run(scriptCommand(resolve(__dirname, 'figures.ts'), args));

describe('The figures', () => {
  it('are printed as a table, and fail the script when one is missed', async () => {
    const { code, stdout } = await figures('--only', 'clean-handover', 'many-rows', '--db', 'sqlite');
    const rows = stdout.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^\| figure +\| database \| target +\| measured +\| ok +\|$/);
    expect(rows).toHaveLength(2 + 3);
    expect(code).toBe(rows.some((row) => row.endsWith('| NO  |')) ? 1 : 0);
    expect(stdout).toContain('larger IDs 20 of 20 times');
    expect(stdout).toContain('1023 rows');
  });

  it('are printed as JSON', async () => {
    const { stdout } = await figures('--only', 'many-rows', '--db', 'sqlite', '--json');
    const measurements = JSON.parse(stdout) as Measurement[];
    expect(measurements.map(({ database }) => database)).toEqual(['sqlite', 'sqlite']);
    expect(measurements[0]).toMatchObject({ target: 'within 1 s', ok: expect.any(Boolean) as boolean });
  });

  it('refuse a name that is none', async () => {
    const { code, stderr } = await figures('--only', 'everything');
    expect(code).toBe(1);
    expect(stderr).toMatch(/'everything' is invalid.*clean-handover/);
  });
});
