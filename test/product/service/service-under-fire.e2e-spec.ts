import type { PrivateServer } from '../../support/servers/private-server.js';
import { startMariadb } from '../../support/servers/private-servers.js';
import { fireAtService } from './fire-at-service.js';

describe('Two services under fire whose database is killed and comes back', () => {
  let server: PrivateServer;

  beforeAll(async () => {
    server = await startMariadb();
  });

  afterAll(() => server?.stop());

  it('issue on as long as their leases last, without one error', async () => {
    const report = await fireAtService({ seconds: [1, 3, 2], leaseMs: 60_000, until: 'served' }, server);
    expect(report.answers).toEqual({ 201: expect.any(Number) as number });
    expect(report).toMatchObject({ errors: 0, repeated: [], ready: [200, 200, 200] });
    expect(report.ids).toBeGreaterThan(10_000);
  });

  it('refuse with typed 503s when the outage outlasts their leases, and recover by themselves', async () => {
    const report = await fireAtService({ seconds: [1, 8, 3], leaseMs: 4_000, until: 'refused' }, server);
    const { 201: issued = 0, ...refused } = report.answers;
    expect(issued).toBeGreaterThan(1_000);
    for (const name of Object.keys(refused))
      expect(name).toMatch(/^503 (LEASE_LOST|WAIT_TIMEOUT|STORE_UNAVAILABLE|NOT_READY)$/);
    expect(Object.keys(refused).length).toBeGreaterThan(0);
    expect(report).toMatchObject({ errors: 0, repeated: [], ready: [200, 503, 200] });
    expect(report.alive).toEqual([200, 200, 200]);
    // Thousands of refusals, a few lines.
    expect(report.logged).toBeLessThan(60);
  });
});
