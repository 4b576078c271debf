import { clusterPrimary, ClusterIdBroker } from '@raindrop/nestjs/cluster';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { clusterPrimaryOver } from '../../../libs/node/src/cluster/cluster-primary.js';
import { OPTIONS, startApp, useDatabase } from '../../support/module/module-fixture.js';
import { ClusterPair } from './cluster-pair.js';

describe('A module whose IDs come from the primary', () => {
  const database = useDatabase('sqlite', 'test');

  it.each([
    ['the layout that both name', OPTIONS],
    ['the layout of the primary', {}],
  ])('needs no database, and issues the primary’s IDs, with %s', async (_, own) => {
    const primary = await startApp([RaindropModule.forRoot({ ...OPTIONS, dbConfig: database.options })]);
    const broker = new ClusterIdBroker(primary.get(IdService));
    const pair = new ClusterPair();
    broker.serve(pair.child);
    const idSource = clusterPrimaryOver(pair.process);
    const worker = await startApp([RaindropModule.forRoot({ ...own, idSource })]);
    const ids = worker.get(IdService);
    expect(ids.parse(ids.nextId()).workerId).toBe(primary.get(IdService).workerId);
    expect(ids.layout.fingerprint).toBe(primary.get(IdService).layout.fingerprint);
    expect(ids.status()).toMatchObject({ assigner: 'cluster', guarantee: 'declared', state: 'held' });
    await worker.close();
    expect(ids.status().state).toBe('closed');
    broker.close();
    await primary.close();
  });

  it.each([
    [{ idSource: 'cluster' as never }, 'clusterPrimary()'],
    [
      { idSource: clusterPrimary(), workerIdAssigner: 'static', workerId: 3 } as const,
      'another process has the worker id',
    ],
    [{ idSource: clusterPrimary(), leaseMs: 60_000 }, 'another process has the worker id'],
  ])('is refused with %j', async (more, message) => {
    await expect(startApp([RaindropModule.forRoot({ ...OPTIONS, ...more })])).rejects.toThrow(message);
  });
});
