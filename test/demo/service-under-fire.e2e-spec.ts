import type { PrivateServer } from '../servers/private-server.js';
import { startMariadb } from '../servers/private-servers.js';
import { fireAtService } from './fire-at-service.js';

describe('Two services under fire whose database is killed and comes back', () => {
  let server: PrivateServer;

  beforeAll(async () => {
    server = await startMariadb();
  }, 60_000);

  afterAll(() => server?.stop());

  it('issue on as long as their leases last, without one error', async () => {
    const report = await fireAtService({ seconds: 8, killedAt: 0.2, restartedAt: 0.6, leaseMs: 60_000 }, server);
    expect(report.answers).toEqual({ 201: expect.any(Number) as number });
    expect(report).toMatchObject({ errors: 0, repeated: [], ready: [200, 200, 200] });
    expect(report.ids).toBeGreaterThan(10_000);
  }, 120_000);

  it('refuse with typed 503s when the outage outlasts their leases, and recover by themselves', async () => {
    const report = await fireAtService({ seconds: 15, killedAt: 0.05, restartedAt: 0.65, leaseMs: 4_000 }, server);
    const { 201: issued = 0, ...refused } = report.answers;
    expect(issued).toBeGreaterThan(1_000);
    for (const name of Object.keys(refused))
      expect(name).toMatch(/^503 (LEASE_LOST|WAIT_TIMEOUT|STORE_UNAVAILABLE|NOT_READY)$/);
    expect(Object.keys(refused).length).toBeGreaterThan(0);
    expect(report).toMatchObject({ errors: 0, repeated: [], ready: [200, 503, 200] });
    expect(report.alive).toEqual([200, 200, 200]);
    // Thousands of refusals, a few lines.
    expect(report.logged).toBeLessThan(60);
  }, 120_000);
});
