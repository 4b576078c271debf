import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import { MariadbPair } from '../../support/servers/mariadb-pair.js';
import { PostgresPair } from '../../support/servers/postgres-pair.js';
import type { PairKind, ServerPair } from '../../support/servers/server-pair.js';
import { failOver, type Fleet, type FailoverRound } from './fail-over.js';
import { acquiresLost, type FailoverScenario } from './failover-scenario.js';
import { Issuer } from './issuer.js';
import { repeatedIds } from './repeated-ids.js';
import { TcpSwitch } from '../../support/proxies/tcp-switch.js';

export interface FailoverOutcome {
  readonly seed: number;
  readonly rounds: number;
  /** Writes to worker rows that a primary had acknowledged and that no process has seen since. */
  readonly lostCommits: number;
  /** How often a holder noticed. */
  readonly regressions: number;
  readonly ids: number;
  readonly duplicates: number;
  /** The first few IDs that were issued twice, and by whom. */
  readonly examples: readonly string[];
  readonly each: readonly FailoverRound[];
}

const IDS_BEFORE = 500;

const PAIRS = { postgres: PostgresPair, mariadb: MariadbPair };

/** A primary of that engine, to which a standby can be added. */
export function startPair(engine: PairKind): Promise<ServerPair> {
  return PAIRS[engine].start();
}

/**
 * Lets a primary be replaced, again and again, by a standby that lacks its last acknowledged commits, while
 * processes of their own issue IDs from it: some hold their rows all the time, some acquire one in the time that is
 * lost, and one acquires the same row afterwards. Takes about 4 s to start and 7 s for a round.
 *
 * @param scenario {@link unguarded} makes it the control, in which IDs are issued twice
 * @throws Error when a process fails or does not recover, or when the machine is too slow for the round to mean anything
 */
export async function runFailoverRounds(
  rounds: number,
  seed: number,
  scenario: FailoverScenario = acquiresLost,
  engine: PairKind = 'postgres',
): Promise<FailoverOutcome> {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-failover-'));
  const [pair, main, side] = await Promise.all([startPair(engine), TcpSwitch.atFreePort(), TcpSwitch.atFreePort()]);
  const start = (name: string, { port }: TcpSwitch): Issuer => {
    const { lease, marker, holders, newcomers, spareRows } = scenario;
    const workers = holders + newcomers + spareRows;
    return new Issuer({ name, engine, port, workers, lease, marker, idsFile: join(directory, name) });
  };
  const many = (name: string, count: number): Issuer[] =>
    Array.from({ length: count }, (_, index) => start(`${name}-${index + 1}`, main));
  const fleet: Fleet = {
    holders: many('holder', scenario.holders),
    newcomers: many('newcomer', scenario.newcomers),
    taker: start('taker', side),
  };
  const issuers = [...fleet.holders, ...fleet.newcomers, fleet.taker];
  try {
    for (const address of [main, side]) address.pointTo(pair.primary.port);
    await Promise.all(issuers.map((issuer) => issuer.until('has loaded', () => issuer.count('loaded') > 0)));
    fleet.holders.forEach((issuer) => issuer.open());
    await Promise.all(fleet.holders.map((issuer) => issuer.untilIssued(IDS_BEFORE)));
    await pair.addStandby();

    const random = new SeededRandom(seed);
    const each: FailoverRound[] = [];
    for (let round = 0; round < rounds; round++) {
      const outage = scenario.outages[round % scenario.outages.length]!;
      each.push(await failOver({ pair, main, side, fleet, scenario, outage, random }));
    }
    await Promise.all(fleet.holders.map((issuer) => issuer.close()));
    const lostCommits = each.reduce((sum, round) => sum + round.lostCommits, 0);
    const regressions = issuers.reduce((sum, issuer) => sum + issuer.count('database-regression'), 0);
    return { seed, rounds: each.length, lostCommits, regressions, ...repeatedIds(issuers), each };
  } finally {
    await Promise.all(issuers.map((issuer) => issuer.stop()));
    await Promise.all([pair.stop(), main.stop(), side.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}
