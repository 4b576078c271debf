import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError } from '../config/option-reader.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { type LeaseOptions, resolveLeaseOptions } from './lease-options.js';

const DAY = 86_400_000;

const DEFAULTS = {
  heartbeatIntervalMs: 10_000,
  leaseMs: 60_000,
  horizonMs: 65_000,
  graceMs: 60_000,
  opTimeoutMs: 3_000,
  maxClockSkewMs: 30_000,
  commitLossWindowMs: 0,
  waitForWorkerMs: 0,
  priorityEqualCodeWorkId: false,
  adoptForeign: false,
  sharedWithOriginal: false,
};

/** What is wrong with these options, an option a line. */
function problemsOf(options: unknown): string[] {
  const { problems } = caught(ConfigurationError, () => resolveLeaseOptions(options as LeaseOptions));
  return problems.map(({ option, given, message }) => `${option} = ${given}: ${message}`);
}

describe('lease options', () => {
  it('have the documented defaults, and cannot be changed afterwards', () => {
    const resolved = resolveLeaseOptions({});
    expect(resolved).toEqual(DEFAULTS);
    expect(Object.isFrozen(resolved)).toBe(true);
    expect(resolveLeaseOptions({ leaseMs: undefined, adoptForeign: undefined })).toEqual(DEFAULTS);
  });

  it('survive an outage of lease - heartbeat - opTimeout by default: 47 s', () => {
    const { leaseMs, heartbeatIntervalMs, opTimeoutMs } = resolveLeaseOptions({});
    expect(leaseMs - heartbeatIntervalMs - opTimeoutMs).toBe(47_000);
  });

  it('let horizon and grace follow the lease', () => {
    expect(resolveLeaseOptions({ leaseMs: 20_000 })).toEqual({
      ...DEFAULTS,
      leaseMs: 20_000,
      horizonMs: 25_000,
      graceMs: 20_000,
    });
    expect(resolveLeaseOptions({ leaseMs: 20_000, horizonMs: 20_000, graceMs: 0 })).toMatchObject({
      horizonMs: 20_000,
      graceMs: 0,
    });
  });

  it.each<{ option: keyof LeaseOptions; min: number; max: number; beside?: LeaseOptions }>([
    { option: 'heartbeatIntervalMs', min: 50, max: 600_000, beside: { leaseMs: DAY } },
    { option: 'opTimeoutMs', min: 10, max: 60_000, beside: { leaseMs: DAY } },
    { option: 'leaseMs', min: 100, max: DAY, beside: { heartbeatIntervalMs: 50, opTimeoutMs: 10 } },
    { option: 'horizonMs', min: 60_000, max: 2 * DAY },
    { option: 'horizonMs', min: 20_000, max: 2 * DAY, beside: { leaseMs: 20_000 } },
    { option: 'graceMs', min: 0, max: DAY },
    { option: 'maxClockSkewMs', min: 100, max: 3_600_000 },
    { option: 'commitLossWindowMs', min: 0, max: DAY },
    { option: 'waitForWorkerMs', min: 0, max: DAY },
  ])('take $option from $min to $max, and name both ends outside', ({ option, min, max, beside }) => {
    for (const value of [min, min + 1, max - 1, max]) {
      expect(resolveLeaseOptions({ ...beside, [option]: value })[option]).toBe(value);
    }
    for (const value of [min - 1, max + 1]) {
      const [problem, ...rest] = problemsOf({ ...beside, [option]: value });
      expect(problem).toContain(`${option} = ${value}: is out of range: must be an integer from ${min} to ${max}`);
      expect(rest).toEqual([]);
    }
  });

  it.each<[LeaseOptions, string[]]>([
    [
      { leaseMs: 13_000 },
      [
        'leaseMs = 13000: must be greater than heartbeatIntervalMs (10000) + opTimeoutMs (3000): a lease must ' +
          'outlast a slow renewal',
      ],
    ],
    [
      { heartbeatIntervalMs: 57_000 },
      [
        'leaseMs = 60000: must be greater than heartbeatIntervalMs (57000) + opTimeoutMs (3000): a lease must ' +
          'outlast a slow renewal',
      ],
    ],
    [
      { opTimeoutMs: 60_000 },
      [
        'leaseMs = 60000: must be greater than heartbeatIntervalMs (10000) + opTimeoutMs (60000): a lease must ' +
          'outlast a slow renewal',
      ],
    ],
    [
      { leaseMs: 90_000, horizonMs: 89_999 },
      [
        'horizonMs = 89999: is out of range: must be an integer from 90000 to 172800000; ' +
          'a reservation must outlast the lease',
      ],
    ],
  ])('refuse %j, which does not fit together', (options, problems) => {
    expect(problemsOf(options)).toEqual(problems);
  });

  it('make others wait for all that a lost commit can hide, where a window for that is set', () => {
    const least = 60_000 + 5_000 + 3 * 30_000;
    expect(resolveLeaseOptions({ commitLossWindowMs: 5_000 }).graceMs).toBe(least);
    expect(resolveLeaseOptions({ commitLossWindowMs: 5_000, graceMs: least + DAY }).graceMs).toBe(least + DAY);
    expect(problemsOf({ commitLossWindowMs: 5_000, graceMs: least - 1 })).toEqual([
      `graceMs = ${least - 1}: is out of range: must be an integer from ${least} to ${least + DAY}; ` +
        'at least leaseMs + commitLossWindowMs + 3 x maxClockSkewMs',
    ]);
  });

  it.each<LeaseOptions>([{ leaseMs: 13_001 }, { heartbeatIntervalMs: 56_999 }, { opTimeoutMs: 49_999 }])(
    'take %j, which just fits together',
    (options) => {
      expect(resolveLeaseOptions(options)).toMatchObject(options);
    },
  );

  it('do not blame one option for another that was refused', () => {
    expect(problemsOf({ heartbeatIntervalMs: 700_000 })).toHaveLength(1);
    expect(problemsOf({ leaseMs: 5 })).toEqual([
      'leaseMs = 5: is out of range: must be an integer from 100 to 86400000',
    ]);
  });

  it.each<[unknown, string]>([
    ['60000', '"60000": must be a number, not a string: use Number(...)'],
    ['1m', '"1m": must be a number, not a string: use Number(...)'],
    [Number.NaN, 'NaN: must be an integer from 0 to 86400000'],
    [Number.POSITIVE_INFINITY, 'Infinity: must be an integer from 0 to 86400000'],
    [0.5, '0.5: must be an integer from 0 to 86400000'],
    [null, 'null: must be an integer from 0 to 86400000'],
    [60_000n, '60000n: must be an integer from 0 to 86400000'],
    [{}, 'an object: must be an integer from 0 to 86400000'],
  ])('refuse %p for a time', (value: unknown, expected) => {
    expect(problemsOf({ graceMs: value })).toEqual([`graceMs = ${expected}`]);
  });

  it.each(['heartbeatIntervalMs', 'leaseMs', 'horizonMs', 'opTimeoutMs', 'maxClockSkewMs', 'commitLossWindowMs'])(
    'refuse NaN and a string for %s',
    (option) => {
      for (const value of [Number.NaN, '30000']) {
        const problems = problemsOf({ [option]: value });
        expect(problems).toHaveLength(1);
        expect(problems[0]).toMatch(new RegExp(`^${option} = ("30000"|NaN): must be `));
      }
    },
  );

  it.each(['priorityEqualCodeWorkId', 'adoptForeign', 'sharedWithOriginal'])(
    'take nothing but true or false for %s',
    (option) => {
      expect(resolveLeaseOptions({ [option]: true })).toMatchObject({ [option]: true });
      for (const [value, shown] of [
        ['true', '"true"'],
        [1, '1'],
        [null, 'null'],
      ] as const) {
        expect(problemsOf({ [option]: value })).toEqual([`${option} = ${shown}: must be true or false`]);
      }
    },
  );

  it('let a table that is shared with the original have what it can bear', () => {
    const shared = (options: LeaseOptions): LeaseOptions => ({ ...options, sharedWithOriginal: true });
    expect(resolveLeaseOptions(shared({}))).toEqual({ ...DEFAULTS, adoptForeign: true, sharedWithOriginal: true });
    expect(resolveLeaseOptions(shared({ leaseMs: 90_000 }))).toMatchObject({
      leaseMs: 90_000,
      horizonMs: 90_000,
      maxClockSkewMs: 28_000,
    });
    expect(resolveLeaseOptions(shared({ maxClockSkewMs: 58_000 }))).toMatchObject({ horizonMs: 60_000 });
    expect(problemsOf(shared({ leaseMs: 90_001 }))).toEqual([
      expect.stringMatching(/^leaseMs = 90001: .*90.?000.*the original takes over a row 120 s after its heartbeat/),
    ]);
    expect(problemsOf(shared({ horizonMs: 88_001 }))).toEqual([
      'horizonMs = 88001: with sharedWithOriginal horizonMs (88001) + maxClockSkewMs (30000) must be at most 118000: ' +
        'the original takes over a row 120 s after its heartbeat',
    ]);
    expect(problemsOf(shared({ maxClockSkewMs: 58_001 }))).toEqual([
      expect.stringMatching(/^maxClockSkewMs = 58001: /),
    ]);
  });

  it.each([
    ['heartBeatIntervalMs', 'heartbeatIntervalMs'],
    ['leaseMS', 'leaseMs'],
    ['horizon', 'horizonMs'],
    ['adoptForeigner', 'adoptForeign'],
    ['maxClockSkew', 'maxClockSkewMs'],
  ])('ask of %s whether %s was meant', (given, meant) => {
    expect(problemsOf({ [given]: 1 })).toEqual([`${given} = (number): is not an option; did you mean ${meant}?`]);
  });

  it('report everything that is wrong at once', () => {
    const wrong = { leaseMs: '60000', graceMs: -1, adoptForeign: 'no', colour: 'red' } as unknown as LeaseOptions;
    const { message, problems, retryable } = caught(ConfigurationError, () => resolveLeaseOptions(wrong));
    expect(problems.map(({ option }) => option)).toEqual(['leaseMs', 'graceMs', 'adoptForeign', 'colour']);
    expect(message.split('\n')).toHaveLength(5);
    expect(retryable).toBe(false);
  });

  it.each([[undefined], [null], ['60000'], [[]]])('refuse %p in place of an object', (options: unknown) => {
    expect(problemsOf(options)).toEqual([expect.stringContaining('must be an object')]);
  });
});

function warningsOf({ events }: KeeperBench): string[] {
  return events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
}

describe('the start warns', () => {
  it('when more than half of the range is held, whose cure is a wider one', async () => {
    const database = new WorkerDatabase();
    const fleet: KeeperBench[] = [];
    for (let seed = 1; seed <= 3; seed++) {
      fleet.push(await KeeperBench.started({ database, seed, layout: { serviceMaxWorkId: 4 } }));
    }
    expect(fleet.map((each) => warningsOf(each).length)).toEqual([0, 0, 1]);
    expect(warningsOf(fleet[2]!)[0]).toMatch(/^3 of 4 worker ids are held: widen serviceMinWorkId\.\.serviceMaxWorkId/);
  });

  it('but not for a range of one, which is meant so', async () => {
    expect(warningsOf(await KeeperBench.started({ layout: { serviceMaxWorkId: 1 } }))).toEqual([]);
  });

  it('of settings that lose commits, unless a window for that is set', async () => {
    const problem = 'synchronous is 0: set it to FULL';
    for (const { commitLossWindowMs, told } of [
      { commitLossWindowMs: 0, told: [problem] },
      { commitLossWindowMs: 1_000, told: [] },
    ]) {
      const bench = new KeeperBench({ lease: { commitLossWindowMs } });
      bench.store.durabilityWarnings = () => Promise.resolve([problem]);
      await Promise.all([bench.keeper.start(), bench.database.advance(2_000)]);
      expect(warningsOf(bench)).toEqual(told);
    }
  });

  it('of nothing, and goes on, where the settings cannot be read', async () => {
    const bench = new KeeperBench();
    bench.store.durabilityWarnings = () => Promise.reject(new Error('not allowed'));
    await bench.keeper.start();
    expect([bench.refusal(), warningsOf(bench)]).toEqual([undefined, []]);
  });
});
