import { resolveLeaseOptions, type LeaseOptions } from './lease-options.js';
import { grantReachMs, sessionAgesOf } from './failover-guard.js';

const DAY = 86_400_000;

const LEGAL: readonly LeaseOptions[] = [
  {},
  { horizonMs: 2 * DAY },
  { leaseMs: 8_000, heartbeatIntervalMs: 2_000, horizonMs: 68_000 },
  { leaseMs: 8_000, heartbeatIntervalMs: 2_000, horizonMs: 2 * DAY, maxClockSkewMs: 100 },
  { leaseMs: 100, heartbeatIntervalMs: 50, opTimeoutMs: 10, graceMs: 0, maxClockSkewMs: 100 },
  { leaseMs: 100, heartbeatIntervalMs: 50, opTimeoutMs: 10, graceMs: 0, maxClockSkewMs: 3_600_000 },
  { leaseMs: 60_051, heartbeatIntervalMs: 50, opTimeoutMs: 60_000, graceMs: 0, maxClockSkewMs: 20_017 },
  { leaseMs: 660_001, heartbeatIntervalMs: 600_000, opTimeoutMs: 60_000, graceMs: 0, maxClockSkewMs: 3_600_000 },
  { leaseMs: DAY, horizonMs: DAY, graceMs: DAY },
  { sharedWithOriginal: true },
  { commitLossWindowMs: 60_000 },
];

describe('The age of sessions', () => {
  it('is 60 s by default, with another session beside from 44 s on and a reach of 218 s', () => {
    const ages = { maxSessionAgeMs: 60_000, renewSessionAfterMs: 44_000, reachMs: 218_000 };
    expect(sessionAgesOf(resolveLeaseOptions({}))).toEqual(ages);
  });

  it('is longer where the reach is long enough for that', () => {
    const lease = resolveLeaseOptions({ leaseMs: 180_000, heartbeatIntervalMs: 30_000 });
    const ages = { maxSessionAgeMs: 267_000, renewSessionAfterMs: 231_000, reachMs: 545_000 };
    expect(sessionAgesOf(lease)).toEqual(ages);
  });

  it.each(LEGAL)('lets nothing be granted past the reach: %p', (options) => {
    const lease = resolveLeaseOptions(options);
    const { maxSessionAgeMs, reachMs } = sessionAgesOf(lease);
    // True times from the moment at which the primary is replaced; each clock is as wrong as it may be.
    const lastGrantMs = lease.opTimeoutMs + maxSessionAgeMs;
    const holderClockMs = lastGrantMs + lease.maxClockSkewMs + lease.maxClockSkewMs;
    const successorClockMs = 0 - lease.maxClockSkewMs;
    expect(holderClockMs + lease.horizonMs).toBeLessThanOrEqual(successorClockMs + reachMs);
    expect(reachMs).toBeGreaterThanOrEqual(grantReachMs(lease));
  });

  it.each(LEGAL)('suffices for two renewals at least: %p', (options) => {
    const lease = resolveLeaseOptions(options);
    const { heartbeatIntervalMs, opTimeoutMs } = lease;
    const { maxSessionAgeMs, renewSessionAfterMs } = sessionAgesOf(lease);
    expect(renewSessionAfterMs).toBeGreaterThanOrEqual(heartbeatIntervalMs);
    expect(maxSessionAgeMs - renewSessionAfterMs).toBe(heartbeatIntervalMs + 2 * opTimeoutMs);
  });
});
