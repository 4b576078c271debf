import { hostname, networkInterfaces } from 'node:os';
import { ConfigurationError } from '../config/option-reader.js';
import { ClockMovedBackError } from '../generator/generator-errors.js';
import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { wallClock } from '../ports.js';
import { machineProcessWorkerId, machineText } from '../worker-id/machine-process-id.js';
import { createGenerator, type CreateGeneratorOptions } from './create-generator.js';
import { hostPorts, type HostScope, hostScope } from './host.js';

interface Given {
  pid?: number;
  threadId?: number;
  mac?: string;
  /** What is drawn instead of random numbers. */
  random?: number;
  networkInterfaces?: () => object;
}

/** A host that is said to be so, with a global scope of its own. */
function host(given: Given = {}): HostScope {
  const { pid, threadId = 0, mac = '02:42:ac:11:00:02', random = 0 } = given;
  const modules: Record<string, unknown> = {
    'node:worker_threads': { threadId },
    'node:os': {
      hostname: () => 'web-1',
      networkInterfaces: given.networkInterfaces ?? (() => ({ eth0: [{ mac, internal: false }] })),
    },
  };
  return {
    performance,
    crypto: { getRandomValues: (target) => target.fill(random) },
    process: pid === undefined ? undefined : { pid, getBuiltinModule: (name) => modules[name] },
    setTimeout,
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
}

const workerOn = (given: Given): number => createGenerator({}, host(given)).workerId;

describe('createGenerator()', () => {
  it('issues IDs at once, with a worker id of this machine and this process', () => {
    const before = Date.now();
    const ids = createGenerator();
    const [first, second] = [ids.nextId(), ids.nextId()];
    expect(second).toBeGreaterThan(first);
    const { workerId, time } = ids.parse(first);
    const interfaces = machineText(hostname(), networkInterfaces());
    expect(workerId).toBe(ids.workerId);
    if (/\n/.test(interfaces) && process.pid > 1) {
      expect(workerId).toBe(machineProcessWorkerId({ interfaces, processId: process.pid, workerBits: 10 }));
    }
    // Its unit is a second.
    expect(time.getTime()).toBeGreaterThan(before - 1_000);
    expect(time.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('says that it is unsafe, and how much so', () => {
    const ids = createGenerator();
    expect(ids.guarantee).toBe('unsafe');
    expect(ids.collisionOdds(1)).toBe(0);
    expect(ids.collisionOdds(10)).toBeCloseTo(0.0431, 3);
    expect(ids.collisionOdds(38)).toBeCloseTo(0.5, 2);
  });

  it('has milliseconds since 2024, 10 worker bits, two lanes, 1,024 IDs a millisecond and an end bit', () => {
    const { layout } = createGenerator({}, host());
    expect(layout.fingerprint).toBe('1@1704067200000:t41.w10.b1.s10.e1=0');
  });

  it('is one generator for all calls of a process, so that they never repeat each other', () => {
    const scope = host({ pid: 4_711 });
    const callers = [
      createGenerator({}, scope),
      createGenerator({}, scope),
      createGenerator({ maxHoldMs: 3_000 }, scope),
    ];
    const ids = Array.from({ length: 300 }, (_, index) => callers[index % 3]!.nextId());
    expect(new Set(ids).size).toBe(300);
    expect(new Set(callers).size).toBe(1);
  });

  it('would repeat IDs if it were one for each call: the test can fail', () => {
    jest.spyOn(wallClock, 'now').mockReturnValue(1_800_000_000_000);
    const [one, two] = [createGenerator({}, host({ pid: 4_711 })), createGenerator({}, host({ pid: 4_711 }))];
    expect(one.nextId()).toBe(two.nextId());
    jest.restoreAllMocks();
  });

  it('draws a random worker id once', () => {
    const scope = host({ random: 5 });
    let drawn = 0;
    const crypto = { getRandomValues: (target: Uint32Array) => target.fill(drawn++) };
    const changing = { ...scope, crypto };
    expect(createGenerator({}, changing)).toBe(createGenerator({}, changing));
    expect(drawn).toBe(1);
  });

  it.each<CreateGeneratorOptions>([{ startTimeStamp: '2025-01-01' }, { maxAheadMs: 10 }, { onExhausted: 'wait' }])(
    'refuses another configuration, %p, of a worker id that is in use, and takes it for one of its own',
    (options) => {
      const scope = host({ pid: 4_711 });
      const { workerId } = createGenerator({}, scope);
      expect(() => createGenerator(options, scope)).toThrow(/workerId = \d+: is already used in this process/);
      expect(() => createGenerator({ ...options, workerId }, scope)).toThrow(ConfigurationError);
      const other = createGenerator({ ...options, workerId: (workerId + 1) % 1_024 }, scope);
      expect(other.parse(other.nextId()).workerId).toBe((workerId + 1) % 1_024);
    },
  );

  it.each([
    [{ workerId: 1_024 }, ['workerId']],
    [{ workerId: '7' }, ['workerId']],
    [{ startTimeStamp: 'yesterday', onExhausted: 'panic' }, ['startTimeStamp', 'onExhausted']],
    [{ startTimeStamp: '1950-01-01' }, ['startTimeStamp']],
    [{ startTimeStamp: '2999-01-01', timeStampLength: 50 }, ['startTimeStamp', 'timeStampLength']],
  ])('reports everything that is wrong with %p', (options, wrong) => {
    const error = thrownBy(() => createGenerator(options as CreateGeneratorOptions, host()));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems.map(({ option }) => option)).toEqual(wrong);
  });
});

describe('the worker id without configuration', () => {
  it('differs for 32 neighbouring processes of a machine, and for 32 threads of a process', () => {
    const pids = Array.from({ length: 32 }, (_, index) => workerOn({ pid: 900 + index }));
    expect(new Set(pids).size).toBe(32);
    const threads = Array.from({ length: 32 }, (_, threadId) => workerOn({ pid: 900, threadId }));
    expect(new Set(threads).size).toBe(32);
    expect(new Set([...threads, ...pids].map((id) => id % 32)).size).toBe(1);
  });

  it('is that of the first thread again in the 33rd that a process starts, whether or not the others still run', () => {
    // Node counts threads for the life of a process.
    expect(workerOn({ pid: 900, threadId: 32 })).toBe(workerOn({ pid: 900, threadId: 0 }));
  });

  it('differs between the first few threads of neighbouring processes', () => {
    const workers = [0, 1, 2, 3].flatMap((pid) => [0, 1, 2].map((threadId) => workerOn({ pid: 900 + pid, threadId })));
    expect(new Set(workers).size).toBe(12);
  });

  it('is random where there is no process', () => {
    expect(workerOn({ random: 1 })).not.toBe(workerOn({ random: 2 }));
  });

  it('has random process bits for the first process of a container, which is always number 1', () => {
    const [one, two] = [workerOn({ pid: 1, random: 1 }), workerOn({ pid: 1, random: 2 })];
    expect(one % 32).toBe(two % 32);
    expect(one).not.toBe(two);
    expect(workerOn({ pid: 2, random: 1 })).toBe(workerOn({ pid: 2, random: 2 }));
  });

  it.each([
    ['no interface leads outside', () => ({ lo: [{ mac: '00:00:00:00:00:00', internal: true }] })],
    [
      'the sandbox does not let it look',
      () => {
        throw new TypeError('not permitted');
      },
    ],
  ])('has random machine bits where %s', (_, interfacesOf) => {
    const of = (random: number): number => workerOn({ pid: 900, random, networkInterfaces: interfacesOf });
    const drawn = new Set(Array.from({ length: 64 }, (_each, random) => of(random)));
    expect(drawn.size).toBeGreaterThan(16);
    expect(new Set([...drawn].map((id) => id >> 5)).size).toBe(1);
  });

  it('is random as well before Node.js 20.16, but for the process', () => {
    const old = (random: number): HostScope => ({ ...host({ random }), process: { pid: 900 } });
    const [one, two] = [createGenerator({}, old(1)).workerId, createGenerator({}, old(2)).workerId];
    expect(one).not.toBe(two);
    expect(one >> 5).toBe(two >> 5);
  });
});

describe('a former run with the same worker id', () => {
  const START_MS = 1_800_000_000_000;
  let elapsedMs = 0;
  const begin = () => createGenerator({ workerId: 7 }, { ...host(), performance: { now: () => elapsedMs } });

  const setClock = (ms: number): unknown => jest.spyOn(wallClock, 'now').mockReturnValue(ms);

  beforeEach(() => setClock(START_MS));
  afterEach(() => jest.restoreAllMocks());

  it('keeps the tick in which the next begins, and times before it', () => {
    const ids = begin();
    const { time, clockBack } = ids.parse(ids.nextId());
    expect([time.getTime(), clockBack]).toEqual([START_MS + 1, 0]);
    setClock(START_MS - 60_000);
    expect(ids.parse(ids.nextId()).time.getTime()).toBe(START_MS + 1);
    // No other lane goes there either: when the hold is over, that is all.
    elapsedMs += 3_001;
    expect(thrownBy(() => ids.nextId())).toBeInstanceOf(ClockMovedBackError);
  });

  it('is not repeated by the next, whenever it ended, unless it ran ahead of the clock', () => {
    const issued = new Set<bigint>();
    for (let run = 0; run < 20; run++) {
      const ids = begin();
      for (let count = 0; count < 500; count++) {
        const id = ids.nextId();
        expect(issued.has(id)).toBe(false);
        issued.add(id);
      }
      setClock(START_MS + (run + 1) * 6);
    }
  });

  it('goes over to the other lane when the clock falls back to a time after its beginning', () => {
    const ids = begin();
    setClock(START_MS + 10_000);
    ids.nextId();
    setClock(START_MS + 5_000);
    expect(ids.parse(ids.nextId())).toMatchObject({ clockBack: 1, time: new Date(START_MS + 5_000) });
  });

  it('is a matter of luck for clocks that stand still: what it says it does not guarantee', () => {
    expect(begin().nextId()).toBe(begin().nextId());
  });
});

describe('the ports of this host', () => {
  const { clock, monotonic, randomness, timers } = hostPorts();

  it('read its clocks', () => {
    for (const [ours, hosts] of [
      [() => clock.now(), Date.now],
      [() => clock.refresh(), Date.now],
      [() => monotonic.now(), () => performance.now()],
    ] as const) {
      const before = hosts();
      const read = ours();
      expect(read).toBeGreaterThanOrEqual(before);
      expect(read).toBeLessThanOrEqual(hosts());
    }
  });

  it('draw fractions and tokens', () => {
    const fractions = Array.from({ length: 100 }, () => randomness.fraction());
    expect(fractions.every((each) => each >= 0 && each < 1)).toBe(true);
    const tokens = Array.from({ length: 100 }, () => randomness.token());
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(token).toMatch(/^[\da-z]+(-[\da-z]+){3}$/);
  });

  it('fire timers, unless they are cancelled', async () => {
    const fired: string[] = [];
    timers.setTimer(() => fired.push('cancelled'), 1, 'foreground').cancel();
    await new Promise<void>((resolve) => {
      timers.setTimer(() => fired.push('background'), 1, 'background');
      timers.setTimer(resolve, 5, 'foreground');
    });
    expect(fired).toEqual(['background']);
  });

  it('keep the process alive for a foreground timer only', () => {
    const made: { hasRef(): boolean }[] = [];
    const scope = hostScope();
    const spied = {
      performance: scope.performance,
      crypto: scope.crypto,
      clearTimeout: scope.clearTimeout,
      setTimeout: (callback: () => void, delayMs: number) => {
        const timer = setTimeout(callback, delayMs);
        made.push(timer);
        return timer;
      },
    };
    const both = (['background', 'foreground'] as const).map((kind) =>
      hostPorts(spied).timers.setTimer(() => undefined, 1_000, kind),
    );
    expect(made.map((timer) => timer.hasRef())).toEqual([false, true]);
    for (const timer of both) timer.cancel();
  });

  it('do with the numbers that timers are in browsers', () => {
    const scope = { ...hostScope(), setTimeout: () => 7, clearTimeout: jest.fn() };
    hostPorts(scope)
      .timers.setTimer(() => undefined, 1, 'background')
      .cancel();
    expect(scope.clearTimeout).toHaveBeenCalledWith(7);
  });

  it('are those of when this was loaded: fake timers change nothing', async () => {
    const [wallMs, monotonicMs] = [Date.now(), performance.now()];
    jest.useFakeTimers({ now: 0 });
    try {
      await new Promise<void>((resolve) => void timers.setTimer(resolve, 5, 'foreground'));
      expect(clock.now()).toBeGreaterThanOrEqual(wallMs);
      expect(clock.refresh()).toBeGreaterThanOrEqual(wallMs);
      expect(monotonic.now()).toBeGreaterThan(monotonicMs);
    } finally {
      jest.useRealTimers();
    }
  });
});
