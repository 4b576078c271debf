import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createService } from '../../../apps/id-service/src/create-service.js';
import type { ServiceDatabase } from '../../../apps/id-service/src/database/open-database.js';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { testDatabase, type DatabaseKind, type TestDatabase } from '../../support/servers/test-databases.js';

export interface OpenService {
  readonly app: NestFastifyApplication;
  readonly database: TestDatabase;
  /** Where it listens; `http://127.0.0.1:41234`. */
  readonly url: string;
  close(): Promise<void>;
}

/** The service in this process, on a database of its own, listening, with worker ids 5 to 9. */
export async function openService(
  environment: Readonly<Record<string, string>> = {},
  kind: DatabaseKind = 'sqlite',
): Promise<OpenService> {
  const database = await testDatabase(kind);
  const workers = { RAINDROP_MIN_WORKER_ID: '5', RAINDROP_MAX_WORKER_ID: '9' };
  const config = readServiceConfig({ ...workers, ...environment });
  const app = await createService({ ...config, database: database.options as ServiceDatabase });
  // As main.ts does: without them a service warns ten seconds after its start, in the middle of a slow test.
  app.enableShutdownHooks(['SIGTERM']);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const close = async (): Promise<void> => {
    await app.close();
    await database.drop();
  };
  return { app, database, url: `http://127.0.0.1:${port}`, close };
}
