import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LeaseOptions } from '@raindrop/core';
import { grantReachMs, resolveLeaseOptions } from '@raindrop/core/internal';
import type { PairKind } from '../../support/servers/server-pair.js';
import { startPair } from './failover-rounds.js';
import { Issuer } from './issuer.js';
import { repeatedIds, type Repeats } from './repeated-ids.js';
import { TcpSwitch } from '../../support/proxies/tcp-switch.js';

/** What came of a primary that was replaced and lived on. */
export interface OldPrimaryOutcome extends Repeats {
  /** How many IDs the holders issued, by the old primary's leave, after it was replaced. */
  readonly issuedByOld: number;
}

/** Sessions may be 4 s old; who waits at the successor begins after 12 s. */
const LEASE: LeaseOptions = {
  heartbeatIntervalMs: 150,
  leaseMs: 4_000,
  horizonMs: 4_000,
  graceMs: 4_000,
  opTimeoutMs: 1_000,
  maxClockSkewMs: 1_000,
};

const HOLDERS = 3;
const IDS_BEFORE = 500;
const IDS_AFTER = 2_000;

/**
 * A standby is promoted and its primary, which is not told, goes on serving the sessions that it has: those of all holders,
 * behind a load balancer that leaves them there and accepts no new connections for a while. Another process finds the new
 * primary, and wants one of the rows.
 * @param sessionAgeBeyondMs how much older than it may be a session writes: the control
 */
export async function runOldPrimary(engine: PairKind, sessionAgeBeyondMs = 0): Promise<OldPrimaryOutcome> {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-old-primary-'));
  const [pair, main, side] = await Promise.all([startPair(engine), TcpSwitch.atFreePort(), TcpSwitch.atFreePort()]);
  const start = (name: string, { port }: TcpSwitch): Issuer =>
    new Issuer({
      name,
      engine,
      port,
      workers: HOLDERS,
      lease: LEASE,
      marker: true,
      sessionAgeBeyondMs,
      idsFile: join(directory, name),
    });
  const holders = Array.from({ length: HOLDERS }, (_, index) => start(`holder-${index + 1}`, main));
  const taker = start('taker', side);
  const issuers = [...holders, taker];
  try {
    main.pointTo(pair.primary.port);
    await Promise.all(issuers.map((issuer) => issuer.until('has loaded', () => issuer.count('loaded') > 0)));
    holders.forEach((issuer) => issuer.open());
    await Promise.all(holders.map((issuer) => issuer.untilIssued(IDS_BEFORE)));
    await pair.addStandby();
    const before = issuedBy(holders);

    // New sessions lead nowhere from here on; those that are there stay.
    main.pointNewOnesTo(0);
    await pair.divide();
    side.pointTo(pair.primary.port);
    taker.open();
    await taker.untilIssued(IDS_AFTER);
    const issuedByOld = issuedBy(holders) - before;

    // There is a row for each holder, and none for him.
    await taker.close();
    main.pointTo(pair.primary.port);
    await Promise.all(holders.map((issuer) => issuer.untilIssued(IDS_AFTER)));
    return { issuedByOld, ...repeatedIds(issuers) };
  } finally {
    await Promise.all(issuers.map((issuer) => issuer.stop()));
    await Promise.all([pair.stop(), main.stop(), side.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** So much older than it may be that a holder writes past the moment at which another one begins. */
export const TOO_OLD_MS = grantReachMs(resolveLeaseOptions(LEASE));

function issuedBy(issuers: readonly Issuer[]): number {
  return issuers.reduce((sum, issuer) => sum + issuer.issued, 0);
}
