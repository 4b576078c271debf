import { IdService } from '@raindrop/nestjs';
import { createService } from '../../../apps/id-service/src/create-service.js';
import type { ServiceDatabase } from '../../../apps/id-service/src/database/open-database.js';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { kindsOfTier, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';

const DEFAULT = '1000@1767225600:t33.w10.b1.s18.e1=0';
const NUMBER = '1000@1767225600:t30.w8.b1.s13.e1=0';

describe.each(kindsOfTier)('LAYOUT of an ID service on %s', (kind) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase(kind);
  });

  afterEach(() => database.drop());

  /** Starts a service, asks for an ID and for the workers, and ends it. @returns its layout */
  async function serve(environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const config = readServiceConfig({
      API_KEYS: 'key-0123456789abcdef',
      API_KEYS_FOR: 'workers',
      RAINDROP_MAX_WORKER_ID: '4',
      ...environment,
    });
    const app = await createService({ ...config, database: database.options as ServiceDatabase });
    await app.init();
    try {
      const issued = await app.inject({ method: 'POST', url: '/v1/ids' });
      const [id] = issued.json<{ ids: [string] }>().ids;
      const { fingerprint } = app.get(IdService).layout;
      const decoded = await app.inject({ method: 'GET', url: `/v1/ids/${id}` });
      expect(decoded.json()).toMatchObject({ layout: fingerprint, workerId: app.get(IdService).workerId });
      const status = await app.inject({ method: 'GET', url: '/v1/status' });
      expect(status.json()).toMatchObject({ layout: { fingerprint } });
      const headers = { 'x-api-key': 'key-0123456789abcdef' };
      const workers = await app.inject({ method: 'GET', url: '/v1/workers', headers });
      expect(workers.json()).toMatchObject({
        workers: expect.arrayContaining(
          [{ layout: fingerprint }].map((each) => expect.objectContaining(each) as unknown),
        ) as unknown,
      });
      return fingerprint;
    } finally {
      await app.close();
    }
  }

  it('is the default on an empty table, and names it as well', async () => {
    expect(await serve()).toBe(DEFAULT);
    const bits = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
    expect(await serve({ LAYOUT: JSON.stringify(bits) })).toBe(DEFAULT);
  });

  it('is remembered by the table', async () => {
    expect(await serve({ LAYOUT: 'number' })).toBe(NUMBER);
    expect(await serve()).toBe(NUMBER);
    const environment = { RAINDROP_MAX_WORKER_ID: '300' };
    await expect(serve(environment)).rejects.toThrow(
      'serviceMaxWorkId = 300: is out of range: must be an integer from 0 to 255',
    );
  });

  it('is refused where it could repeat the IDs that the table stands for', async () => {
    expect(await serve()).toBe(DEFAULT);
    await expect(serve({ LAYOUT: 'number' })).rejects.toMatchObject({ errorCode: 'LAYOUT_CONFLICT' });
    expect(await serve()).toBe(DEFAULT);
  });

  it('may be that of another system', async () => {
    const tsid = '{"preset":"tsid","nodeBits":4}';
    const [first, second] = [await serve({ LAYOUT: tsid }), await serve()];
    expect(first).toContain('1@');
    expect(second).toBe(first);
  });
});
