import cluster, { type Worker } from 'node:cluster';
import { resolve } from 'node:path';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { ClusterIdBroker } from '../../../libs/node/src/cluster/cluster-id-broker.js';
import { SILENT, startApp } from '../../support/module/start-app.js';
import { SETUP_VARIABLE, type FamilyCommand, type FamilyReport, type FamilySetup } from './family-messages.js';

/** A primary that holds a worker id, and lets its workers take IDs from it. */
async function main(): Promise<void> {
  const { database, options, workerScript } = JSON.parse(process.env[SETUP_VARIABLE]!) as FamilySetup;
  const app = await startApp([
    TypeOrmModule.forRoot({ ...database, retryAttempts: 0 }),
    RaindropModule.forRoot({ ...options, logger: SILENT, checkShutdownHooks: false }),
  ]);
  const ids = app.get(IdService);
  ids.events.on('lease-lost', () => tell({ kind: 'lease-lost', pid: process.pid }));
  ids.events.on('lease-regained', () => tell({ kind: 'lease-regained', pid: process.pid }));
  new ClusterIdBroker(ids);

  cluster.setupPrimary({ exec: resolve(__dirname, workerScript) });
  cluster.on('message', (_, message: Partial<FamilyReport>) => {
    // Ours and the broker's messages share the channels.
    if (['ready', 'refused', 'done', 'failed'].includes(message.kind!)) tell(message as FamilyReport);
  });
  cluster.on('exit', ({ process: { pid, signalCode } }) => tell({ kind: 'gone', signal: signalCode, pid: pid! }));
  process.on('message', (command: FamilyCommand) => {
    if (command.do === 'fork') for (let count = 0; count < command.count; count++) cluster.fork();
    else for (const worker of workers()) worker.send(command);
    if (command.do !== 'close') return;
    void app.close().then(() => process.disconnect());
  });
  process.on('disconnect', () => process.exit(0));
  tell({ kind: 'up', pid: process.pid });
}

function workers(): Worker[] {
  return Object.values(cluster.workers!).filter((worker) => worker !== undefined);
}

function tell(report: FamilyReport): void {
  process.send?.(report);
}

void main().catch((error: unknown) => tell({ kind: 'failed', message: String(error), pid: process.pid }));
