import { FAULT_GROUPS, planFaults, type ChaosDatabaseKind, type FaultGroup, type PlannedFault } from './fault-plan.js';
import { findFaketime } from './fake-clock.js';

const HOUR_MS = 3_600_000;

function plan(
  options: { seed?: number; db?: ChaosDatabaseKind; seconds?: number; faults?: readonly FaultGroup[] } = {},
): PlannedFault[] {
  return planFaults({
    seed: 1,
    db: 'mariadb',
    seconds: 600,
    faults: FAULT_GROUPS,
    pace: 1,
    leaseMs: 2_000,
    ...options,
  });
}

describe('The plan of a chaos run', () => {
  it('follows from its seed', () => {
    expect(plan({ seed: 5 })).toEqual(plan({ seed: 5 }));
    expect(plan({ seed: 5 })).not.toEqual(plan({ seed: 6 }));
  });

  it('is in the order of time, and everything is over at the end', () => {
    const faults = plan();
    expect(faults.length).toBeGreaterThan(1_000);
    expect(faults.map(({ atMs }) => atMs)).toEqual(faults.map(({ atMs }) => atMs).sort((a, b) => a - b));
    expect(faults.every(({ atMs, lastsMs }) => atMs + lastsMs <= 600_000)).toBe(true);
  });

  it('pauses every other time for longer than the lease', () => {
    const pauses = plan().filter(({ kind }) => kind === 'pause');
    const long = pauses.filter(({ lastsMs }) => lastsMs > 2_000);
    expect(pauses.length).toBeGreaterThan(100);
    expect(Math.abs(long.length - pauses.length / 2)).toBeLessThan(3);
  });

  it('puts clocks a little off mostly, and by years sometimes, both ways', () => {
    const steps = plan()
      .filter(({ kind }) => kind === 'clockStep')
      .map(({ byMs }) => byMs);
    const small = steps.filter((byMs) => Math.abs(byMs) <= 5_000);
    expect(small.length).toBeGreaterThan(steps.length / 2);
    expect(steps).toEqual(expect.arrayContaining([-1, 1]));
    expect(Math.max(...steps)).toBeGreaterThan(20 * 365 * 24 * HOUR_MS);
    expect(Math.min(...steps)).toBeLessThan(-20 * 365 * 24 * HOUR_MS);
  });

  it('locks a SQLite file, cuts the way to a server, and puts no SQLite clock far ahead', () => {
    const kinds = (db: ChaosDatabaseKind): Set<string> => new Set(plan({ db }).map(({ kind }) => kind));
    expect(kinds('sqlite')).toContain('lock');
    expect(kinds('sqlite')).not.toContain('late');
    expect(kinds('postgres')).toContain('late');
    expect(kinds('postgres')).not.toContain('lock');
    expect(
      Math.max(
        ...plan({ db: 'sqlite' })
          .filter(({ kind }) => kind === 'clockStep')
          .map(({ byMs }) => byMs),
      ),
    ).toBe(5_000);
  });
});

describe('The plan for worker ids in Redis', () => {
  it('loses the memory of Redis in three ways, and not so often that no process gets any further', () => {
    const faults = plan({ db: 'redis', faults: ['net', 'db'] });
    const losses = faults.filter(({ kind }) => ['redisKill', 'redisFlush', 'redisSnapshot'].includes(kind));
    expect(new Set(losses.map(({ kind }) => kind)).size).toBe(3);
    expect(losses.length).toBeLessThan(600 / 6);
    expect(faults.map(({ kind }) => kind)).not.toContain('databaseKill');
    expect(faults.map(({ kind }) => kind)).toContain('late');
  });
});

describe('A fake clock', () => {
  it('names the package that is missing', () => {
    expect(() => findFaketime(['/nowhere'])).toThrow('apt-get install faketime');
  });
});
