import { fireAtService } from './fire-at-service.js';

describe('Two services under fire whose database is killed and comes back', () => {
  it('issue on as long as their leases last, without one error', async () => {
    const report = await fireAtService({ seconds: 15, killedAt: 0.3, restartedAt: 0.6, leaseMs: 60_000 });
    expect(report.answers).toEqual({ 201: expect.any(Number) as number });
    expect(report).toMatchObject({ errors: 0, repeated: [], ready: [200, 200, 200] });
    expect(report.ids).toBeGreaterThan(10_000);
  }, 120_000);

  it('refuse with typed 503s when the outage outlasts their leases, and recover by themselves', async () => {
    const report = await fireAtService({ seconds: 20, killedAt: 0.1, restartedAt: 0.6, leaseMs: 4_000 });
    const { 201: issued = 0, ...refused } = report.answers;
    expect(issued).toBeGreaterThan(1_000);
    for (const name of Object.keys(refused))
      expect(name).toMatch(/^503 (LEASE_LOST|WAIT_TIMEOUT|STORE_UNAVAILABLE|NOT_READY)$/);
    expect(Object.keys(refused).length).toBeGreaterThan(0);
    expect(report).toMatchObject({ errors: 0, repeated: [], ready: [200, 503, 200] });
  }, 120_000);
});
