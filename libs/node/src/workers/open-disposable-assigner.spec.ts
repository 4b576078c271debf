import { presets } from '@raindrop/core';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import { VolatileDatabaseError } from '../database/application-database.js';
import { DisposableAssigner, isContainer, isScarce, supplyWarning } from '../worker-node-table/disposable-assigner.js';
import { openDisposableAssigner } from './make-assigner.js';

const layout = presets.uidGenerator({ startTimeStamp: '2026-01-01' });
const open = (options: Partial<SnowflakeModuleOptions>) =>
  openDisposableAssigner(
    resolveSnowflakeOptions({ layout, workerIdAssigner: 'disposable', serviceMaxWorkId: 3, ...options }, Date.now()),
    undefined,
  );
const request = { layout, workers: { min: 1, max: 3 }, holder: 'test' };
const MEMORY = { type: 'better-sqlite3', database: ':memory:' } as const;

describe('The disposable assigner', () => {
  it('wants a database that other processes see', () => {
    expect(open({ dbConfig: 'postgres://localhost/ids' })).toBeInstanceOf(DisposableAssigner);
    expect(() => open({ dbConfig: MEMORY })).toThrow(VolatileDatabaseError);
  });

  it('counts for the whole process when a database in memory is accepted', async () => {
    const options = { dbConfig: MEMORY, allowVolatile: true };
    const ids: number[] = [];
    for (let each = 0; each < 3; each++) ids.push((await open(options).acquire(request))!.workerId);
    expect(ids).toEqual([1, 2, 3]);
    await expect(open(options).acquire(request)).rejects.toMatchObject({ errorCode: 'WORKER_IDS_USED_UP' });
    expect(await open({ ...options, tableName: 'other' }).acquire(request)).toMatchObject({ workerId: 1 });
  });

  it.each([
    [79, false],
    [80, false],
    [81, true],
    [100, true],
  ])('finds ids scarce after worker %i of 100: %s', (workerId, expected) => {
    expect(isScarce(workerId, { min: 1, max: 100 })).toBe(expected);
  });

  it('estimates the days that are left, where there is something to go by', () => {
    const workers = { min: 1, max: 100 };
    expect(supplyWarning(90, workers, { ids: 40, ms: 80 * 86_400_000 })).toContain('10 starts are left (about 20 days');
    expect(supplyWarning(96, workers, { ids: 0, ms: 0 })).toMatch(/almost used up: 4 starts are left, 4\.0 %/);
  });

  it('knows a container by its environment', async () => {
    expect(await isContainer({ KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toBe(true);
    expect(await isContainer({ container: 'podman' })).toBe(true);
  });
});
