import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { ClosedError, type AssignedWorkerId, type WorkerIdAssigner, type WorkerIdRequest } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';
import { firstOf, IdService, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';
import { LogCapture } from './log-capture.js';
import { temporaryDirectory } from '../../support/state-file/temporary-directory.js';

/** No assigner of these tests shares a worker id with another process. */
const AT_ONCE = { restartWaitMs: false } as const;

async function idsOf(options: Partial<SnowflakeModuleOptions>, imports: Parameters<typeof startApp>[0] = []) {
  const app = await startApp([...imports, RaindropModule.forRoot({ ...OPTIONS, ...options })]);
  return { app, ids: app.get(IdService) };
}

@Injectable()
class Registry {
  readonly given: number[] = [];
  readonly back: number[] = [];
}

@Module({ providers: [Registry], exports: [Registry] })
class RegistryModule {}

/** An application's own assigner, with something injected. */
@Injectable()
class RegistryAssigner implements WorkerIdAssigner {
  readonly name = 'registry';
  readonly guarantee = 'exclusive';

  constructor(private readonly registry: Registry) {}

  acquire({ workers }: WorkerIdRequest): Promise<AssignedWorkerId> {
    this.registry.given.push(workers.max);
    return Promise.resolve({ workerId: workers.max });
  }

  release({ workerId }: AssignedWorkerId): Promise<void> {
    this.registry.back.push(workerId);
    return Promise.resolve();
  }
}

@Injectable()
class BrokenAssigner implements WorkerIdAssigner {
  readonly name = 'broken';
  readonly guarantee = 'exclusive';

  constructor() {
    throw new Error('no zoo');
  }

  acquire(): Promise<AssignedWorkerId | undefined> {
    return Promise.resolve(undefined);
  }
}

describe('An assigner', () => {
  it.each([
    ['static', { workerId: 9 }, 'declared', 9],
    ['machine', {}, 'unsafe', undefined],
  ] as const)('%s is named in the status, with what it guarantees', async (use, options, guarantee, workerId) => {
    const { app, ids } = await idsOf({ workerIdAssigner: use, ...options, ...AT_ONCE });
    expect(ids.status()).toMatchObject({ assigner: use, guarantee });
    if (workerId !== undefined) expect(ids.parse(ids.nextId()).workerId).toBe(workerId);
    await app.close();
    expect(() => ids.nextId()).toThrow(ClosedError);
  });

  it('that is unsafe never begins in silence', async () => {
    const logger = new LogCapture();
    const { app } = await idsOf({ workerIdAssigner: 'machine', ...AT_ONCE, logger });
    expect(logger.lines.filter((line) => line.startsWith('warn UNSAFE worker id'))).toHaveLength(1);
    await app.close();
  });

  it('may be a class of the application, and Nest injects into it', async () => {
    const app = await startApp([
      RegistryModule,
      RaindropModule.forRootAsync({
        imports: [RegistryModule],
        useFactory: () => ({ ...OPTIONS, workerIdAssigner: RegistryAssigner, ...AT_ONCE }),
      }),
    ]);
    const ids = app.get(IdService);
    const registry = app.get(Registry);
    expect(ids.status()).toMatchObject({ assigner: 'registry', guarantee: 'exclusive', workerId: 31 });
    await app.close();
    expect(registry).toEqual({ given: [31], back: [31] });
  });

  it.each([
    ['throws', BrokenAssigner, 'could not be created: no zoo'],
    ['needs what is not there', RegistryAssigner, /could not be created: .*Registry/s],
  ])('that %s when it is made says which option it is', async (_, workerIdAssigner, says) => {
    await expect(idsOf({ workerIdAssigner, ...AT_ONCE })).rejects.toThrow(says);
  });

  it('may be an object', async () => {
    const lent = {
      name: 'lent',
      guarantee: 'exclusive',
      acquire: () => Promise.resolve({ workerId: 4, leaseMs: 3_000 }),
    } as const;
    const { app, ids } = await idsOf({ workerIdAssigner: lent, ...AT_ONCE });
    expect(ids.status()).toMatchObject({ workerId: 4, assigner: 'lent' });
    await app.close();
  });

  it.each([
    [{ name: 'x', acquire: () => Promise.resolve({ workerId: 4 }) }, 'a guarantee'],
    [{ name: 'x', guarantee: 'exclusive', acquire: () => Promise.resolve({ workerId: 99 }) }, 'returned worker id 99'],
    [{ name: 'x', guarantee: 'exclusive', acquire: () => Promise.reject(new Error('no zoo')) }, 'no zoo'],
    [{ name: 'x', guarantee: 'exclusive', acquire: () => Promise.resolve(undefined) }, "No worker id was found by 'x'"],
    ['static', '--raindrop.workerId=7, the variable RAINDROP_WORKER_ID or the option workerId'],
    ['statefulSet', "No worker id was found by 'statefulSet'"],
  ])('that cannot serve keeps the application from starting: %#', async (use, says) => {
    const failing = idsOf({ workerIdAssigner: use as never, ...AT_ONCE });
    await expect(failing).rejects.toThrow(says);
  });

  it('that knows nothing of the last run waits until the clock has passed it', async () => {
    const options = { ...OPTIONS, timeUnit: 'millisecond', timeStampLength: 45 } as const;
    const first = await idsOf({ ...options, workerIdAssigner: 'static', workerId: 3 });
    const before = first.ids.nextIds(500);
    await first.app.close();
    const second = await idsOf({ ...options, workerIdAssigner: 'static', workerId: 3 });
    expect(second.ids.nextId()).toBeGreaterThan(before.at(-1)!);
    await second.app.close();
  });
});

describe('The first of several assigners', () => {
  const database = useDatabase('sqlite', 'test');
  const order = firstOf([
    { use: 'static', workers: { min: 1, max: 7 } },
    { use: 'statefulSet', workers: { min: 8, max: 15 } },
    { use: 'database', workers: { min: 16, max: 31 } },
  ]);
  const pod = process.env['POD_NAME'];

  afterEach(() => {
    if (pod === undefined) delete process.env['POD_NAME'];
    else process.env['POD_NAME'] = pod;
  });

  it.each([
    ['static', { workerId: 5 }, 'orders-2', 5, 'declared'],
    ['statefulSet', {}, 'orders-2', 10, 'exclusive'],
  ] as const)('that has a worker id is %s', async (assigner, options, name, workerId, guarantee) => {
    process.env['POD_NAME'] = name;
    const { app, ids } = await idsOf({ workerIdAssigner: order, ...options, ...AT_ONCE }, [typeorm(database.options)]);
    expect(ids.status()).toMatchObject({ assigner, guarantee, workerId });
    await app.close();
  });

  it('is the last, in its own part of the range', async () => {
    process.env['POD_NAME'] = 'orders';
    const { app, ids } = await idsOf({ workerIdAssigner: order, ...AT_ONCE }, [typeorm(database.options)]);
    expect(ids.status()).toMatchObject({ assigner: 'database', guarantee: 'reserved' });
    expect(ids.workerId).toBeGreaterThanOrEqual(16);
    await app.close();
  });

  it('that fails is the end: no other assigner is asked', async () => {
    process.env['POD_NAME'] = 'orders-8';
    const failing = idsOf({ workerIdAssigner: order, ...AT_ONCE }, [typeorm(database.options)]);
    await expect(failing).rejects.toThrow("pod 'orders-8' has ordinal 8, but 8..15 allows only 8 pods");
  });
});

describe('A state file', () => {
  let directory: string;
  let drop: () => void;

  beforeEach(() => {
    ({ directory, drop } = temporaryDirectory());
  });

  afterEach(() => drop());

  const options = (): Partial<SnowflakeModuleOptions> => ({
    workerIdAssigner: 'static',
    workerId: 5,
    timeUnit: 'millisecond',
    timeStampLength: 45,
    stateFile: join(directory, 'state'),
  });

  it('lets the next run begin past the last one, whatever the clock says', async () => {
    const first = await idsOf(options());
    expect(first.ids.status()).toMatchObject({ assigner: 'static + stateFile', guarantee: 'declared', workerId: 5 });
    const issued = new Set(first.ids.nextIds(1_000));
    await first.app.close();
    const realNow = Date.now.bind(Date);
    jest.spyOn(wallClock, 'now').mockImplementation(() => realNow() - 50);
    const second = await idsOf({ ...options(), clock: 'exact' });
    const again = await second.ids.nextIdsAsync(1_000);
    expect(again.filter((id) => issued.has(id))).toEqual([]);
    await second.app.close();
    jest.restoreAllMocks();
  });

  it('that is new waits as if there were none: the last run may not have had one', async () => {
    const { stateFile, ...before } = options();
    const first = await idsOf({ ...before, ...AT_ONCE });
    const issued = first.ids.nextIds(500);
    await first.app.close();
    const second = await idsOf({ ...before, stateFile: stateFile! });
    expect(second.ids.nextId()).toBeGreaterThan(issued.at(-1)!);
    await second.app.close();
  });

  it('notices a second process with the same worker id', async () => {
    const { app } = await idsOf(options());
    await expect(idsOf({ ...options(), waitForWorkerMs: 100 })).rejects.toMatchObject({ errorCode: 'NO_FREE_WORKER' });
    await app.close();
  });

  it('is refused for an id that is only lent', async () => {
    const lent = {
      name: 'lent',
      guarantee: 'exclusive',
      acquire: () => Promise.resolve({ workerId: 4, leaseMs: 3_000 }),
    } as const;
    await expect(idsOf({ ...options(), workerId: undefined, workerIdAssigner: lent })).rejects.toThrow(
      /stateFile .*'lent' leases them for 3000 ms/,
    );
  });
});
