import { createLayout, type LayoutOptions } from '@raindrop/core';
import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { Column, DataSource, Entity } from 'typeorm';
import { ClusterIdBroker } from '../../../libs/node/src/cluster/cluster-id-broker.js';
import { clusterPrimary, clusterPrimaryOver } from '../../../libs/node/src/cluster/cluster-primary.js';
import { startApp } from '../../support/module/module-fixture.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { ClusterPair } from './cluster-pair.js';
import { ONE_ROW } from './family.js';

@Entity()
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column()
  note!: string;
}

const { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength, minLifetimeDays } =
  ONE_ROW as LayoutOptions;
const LAYOUT = createLayout(
  { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength, minLifetimeDays },
  Date.now(),
);

it('Entities of a worker get the primary’s IDs, also when more are saved at once than are at hand', async () => {
  const database = await testDatabase('sqlite');
  const app = await startApp([RaindropModule.forRoot({ ...ONE_ROW, dbConfig: database.options })]);
  const broker = new ClusterIdBroker(app.get(IdService));
  const pair = new ClusterPair();
  broker.serve(pair.child);
  const dataSource = await new DataSource({
    ...database.options,
    entities: [Order],
    synchronize: true,
  }).initialize();
  const engine = await clusterPrimaryOver(pair.process).open({ layout: LAYOUT });
  const ids = new IdService('default', engine);
  ids.attach(dataSource);
  const orders = dataSource.getRepository(Order);
  await orders.save({ note: 'one' });
  await orders.save(Array.from({ length: 500 }, (_, index) => ({ note: String(index) })));
  const stored = await orders.find();
  expect(new Set(stored.map(({ id }) => id)).size).toBe(501);
  expect(new Set(stored.map(({ id }) => ids.parse(id).workerId))).toEqual(new Set([1]));
  // A sync call takes what is at hand.
  await ids.nextIdAsync();
  await until('IDs at hand again', () => ids.refusal() === undefined);
  const [assigned] = ids.assign([orders.create({ note: 'early' })]);
  expect(ids.parse(assigned.id).workerId).toBe(1);
  await ids.onApplicationShutdown();
  await expect(orders.save({ note: 'late' })).rejects.toThrow();
  await dataSource.destroy();
  broker.close();
  await app.close();
  await database.drop();
});

it('The primary as a source needs a process that was forked', async () => {
  const { send } = process;
  const generator = { maxCodes: 10, maxBatch: 100, asyncTimeoutMs: 50 };
  process.send = undefined as never;
  try {
    await expect(clusterPrimary().open({ name: 'default', layout: LAYOUT, generator })).rejects.toThrow(
      'node:cluster or child_process.fork',
    );
    await expect(
      clusterPrimary({ minStep: 0 }).open({ name: 'default', layout: LAYOUT, generator }),
    ).rejects.toMatchObject({ errorCode: 'CONFIGURATION' });
  } finally {
    process.send = send!;
  }
});
