import { startMariadb, startPostgres } from '../../support/servers/private-servers.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { databaseUrl, startServiceProcess } from './service-process.js';

describe.each([
  ['mariadb', startMariadb],
  ['postgres', startPostgres],
] as const)('An ID service whose %s is killed', (kind, startServer) => {
  it('goes on issuing IDs, says that it is ill without quoting the driver, and recovers', async () => {
    const server = await startServer();
    try {
      const database = await testDatabase(kind, server.url);
      const service = await startServiceProcess({ databaseUrl: databaseUrl(database.options) });
      const ask = async (path: string, body?: object): Promise<{ status: number; text: string }> => {
        const answer = await fetch(`${service.url}${path}`, {
          method: path === '/health' ? 'GET' : 'POST',
          ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
        });
        return { status: answer.status, text: await answer.text() };
      };
      const invoice = { series: 'invoice' };
      expect((await ask('/health')).status).toBe(200);
      expect((await ask('/v1/business-numbers', invoice)).status).toBe(201);

      await server.kill('SIGKILL');
      const health = await ask('/health');
      expect(health.status).toBe(503);
      expect(JSON.parse(health.text)).toMatchObject({
        details: { database: { status: 'down', message: 'the database does not answer' }, raindrop: { status: 'up' } },
      });
      const refused = await ask('/v1/business-numbers', invoice);
      expect(refused.status).toBe(503);
      expect(JSON.parse(refused.text)).toMatchObject({ errorCode: 'DATABASE_UNAVAILABLE', retryable: true });
      expect(`${health.text} ${refused.text}`).not.toMatch(/ECONN|127\.0\.0\.1|raindrop_business|terminat|PROTOCOL/);
      expect((await ask('/v1/ids?count=1000')).status).toBe(201);

      await server.restart();
      expect((await ask('/health')).status).toBe(200);
      expect((await ask('/v1/business-numbers', invoice)).status).toBe(201);
      expect((await service.stop()).code).toBe(0);
    } finally {
      await server.stop();
    }
  });
});
