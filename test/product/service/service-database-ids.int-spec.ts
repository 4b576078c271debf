import { DataSource } from 'typeorm';
import { databaseIdSql, workerTableSql } from '@raindrop/nestjs';
import { createService } from '../../../apps/id-service/src/create-service.js';
import type { ServiceDatabase } from '../../../apps/id-service/src/database/open-database.js';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { testDatabase } from '../../support/servers/test-databases.js';

describe('An ID service on a PostgreSQL that makes IDs itself', () => {
  it('shows its worker id as the one of the database, and says so of its IDs', async () => {
    const database = await testDatabase('postgres');
    const admin = await new DataSource(database.options).initialize();
    try {
      for (const sql of workerTableSql('postgres', 'soc_raindrop_worker')) await admin.query(sql);
      await admin.query(databaseIdSql({}, { workerId: 4 }));
      const config = readServiceConfig({
        API_KEYS: 'key-0123456789abcdef',
        API_KEYS_FOR: 'workers',
        RAINDROP_MAX_WORKER_ID: '4',
        WORKER_HISTORY_DAYS: '30',
      });
      const app = await createService({ ...config, database: database.options as ServiceDatabase });
      await app.init();
      try {
        const [row] = await admin.query<{ id: string }[]>('SELECT raindrop_id()::text AS id');
        const headers = { 'x-api-key': 'key-0123456789abcdef' };
        const workers = await app.inject({ method: 'GET', url: '/v1/workers', headers });
        expect(workers.json<{ workers: object[] }>().workers).toContainEqual(
          expect.objectContaining({ workerId: 4, state: 'database', holder: 'public.raindrop_id' }),
        );
        const decoded = await app.inject({ method: 'GET', url: `/v1/ids/${row!.id}`, headers });
        expect(decoded.json()).toMatchObject({
          workerId: 4,
          holder: 'public.raindrop_id',
          origin: { finding: 'by-database', issuer: null },
        });
      } finally {
        await app.close();
      }
    } finally {
      await admin.destroy();
      await database.drop();
    }
  });
});
