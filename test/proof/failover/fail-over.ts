import type { SeededRandom } from '../../support/engine/seeded-random.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { PAIR_DATABASE, type ServerPair } from '../../support/servers/server-pair.js';
import type { FailoverScenario, Outage } from './failover-scenario.js';
import type { Issuer } from './issuer.js';
import type { TcpSwitch } from '../../support/proxies/tcp-switch.js';

export interface Fleet {
  /** They hold a row all the time. */
  readonly holders: readonly Issuer[];
  /** They acquire a row in the time that is lost; before and after they are closed. */
  readonly newcomers: readonly Issuer[];
  /** It acquires a row that the promoted standby believes to be free; before and after it is closed. */
  readonly taker: Issuer;
}

export interface FailoverStage {
  readonly pair: ServerPair;
  /** Where holders and newcomers find the primary. */
  readonly main: TcpSwitch;
  /** Where the taker finds it: a part of the network that learns of the new primary first. */
  readonly side: TcpSwitch;
  readonly fleet: Fleet;
  readonly scenario: FailoverScenario;
  readonly outage: Outage;
  readonly random: SeededRandom;
}

/** What one failover did. */
export interface FailoverRound {
  /** For how long the primary's commits were lost, ms. */
  readonly lossMs: number;
  /** Acknowledged writes to worker rows that the new primary lacks. */
  readonly lostCommits: number;
  /** The rows they were written to. */
  readonly lostRows: number;
  readonly outage: Outage;
  /** How many IDs the newcomers issued until the primary was dead. */
  readonly idsOfNewcomers: number;
}

const IDS_AFTER = 2_000;
/** Of the window in which commits may be lost; to kill the primary takes a part of the rest. */
const LATEST_END = 0.75;
const MOST_TRIES = 20;

/**
 * One failover to a standby that has lost the last acknowledged commits: renewals of every holder, with their odometers,
 * and the acquires of the newcomers. It ends when everybody has issued IDs again, and the pair is complete.
 */
export async function failOver(stage: FailoverStage): Promise<FailoverRound> {
  const { pair, main, side, fleet, scenario, outage, random } = stage;
  const { holders, newcomers, taker } = fleet;
  const troubles = holders.map(troublesOf);
  const { acknowledged, lossMs, idsOfNewcomers } = await loseCommits(stage);

  if (outage === 'read-only') {
    main.pointTo(pair.standby.port);
    // Nothing is waited for: how long this lasts is a part of the scenario, as are the pauses below.
    await sleep(random.between(100, 300));
    main.pointTo(undefined);
  }
  await pair.promote();
  const found = await versionsOn(pair);
  side.pointTo(pair.primary.port);
  const taken = acquire(taker);
  // A start that waits for possible grants waits for no other process.
  if (!scenario.marker || outage === 'long') await taken;
  // Now two believe that they hold the row, the first one until it can ask.
  if (outage === 'long') await taker.untilIssued(IDS_AFTER);
  else await sleep(random.between(50, 150));
  main.pointTo(pair.primary.port);

  await Promise.all([
    pair.addStandby(),
    taken,
    taker.untilIssued(IDS_AFTER),
    ...holders.map((each, index) => each.until('notices the loss', () => troublesOf(each) > troubles[index]!)),
  ]);
  await taker.close();
  await Promise.all([...holders, ...newcomers].map((issuer) => issuer.untilIssued(IDS_AFTER)));
  await Promise.all(newcomers.map((newcomer) => newcomer.close()));

  const losses = [...acknowledged].map(([id, version]) => version - (found.get(id) ?? 0)).filter((lost) => lost > 0);
  const lostCommits = losses.reduce((sum, lost) => sum + lost, 0);
  return { lossMs, lostCommits, lostRows: losses.length, outage, idsOfNewcomers };
}

interface LostCommits extends Pick<FailoverRound, 'lossMs' | 'idsOfNewcomers'> {
  /** The versions of the rows that the primary acknowledged, by id. */
  readonly acknowledged: ReadonlyMap<number, number>;
}

/** Ends the primary after acknowledged commits that the standby has not heard of. */
async function loseCommits(stage: FailoverStage): Promise<LostCommits> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const lost = await tryToLoseCommits(stage);
    if (lost !== undefined) return lost;
    // The standby hears of everything after all, and what was acquired is given back.
    await stage.pair.resumeReplication();
    await Promise.all(stage.fleet.newcomers.map((newcomer) => newcomer.close()));
  }
  throw new Error(`too slow a machine: commits were lost for too long in each of ${MOST_TRIES} tries`);
}

/** @returns undefined when it took so long that commits would be lost for longer than `commitLossWindowMs` */
async function tryToLoseCommits(stage: FailoverStage): Promise<LostCommits | undefined> {
  const { pair, main, fleet, scenario, random } = stage;
  const { commitLossWindowMs = 0 } = scenario.lease;
  const idsBefore = issuedBy(fleet.newcomers);
  await pair.holdReplication();
  const heldAt = performance.now();
  await Promise.all([
    ...fleet.newcomers.map(acquire),
    // The first of the two may have been sent before.
    ...fleet.holders.map((holder) => nextReports(holder, 'lease-renewed', 2)),
  ]);
  await sleep(Math.max(50, scenario.lossMs - (performance.now() - heldAt)) + random.between(0, 100));
  const acknowledged = await versionsOn(pair);
  const isGuarded = commitLossWindowMs > 0;
  if (isGuarded && performance.now() - heldAt > LATEST_END * commitLossWindowMs) return undefined;
  await pair.killPrimary();
  const lossMs = Math.round(performance.now() - heldAt);
  if (isGuarded && lossMs > commitLossWindowMs) {
    throw new Error(`too slow a machine: commits of ${lossMs} ms were lost, the window is ${commitLossWindowMs}`);
  }
  main.pointTo(undefined);
  return { acknowledged, lossMs, idsOfNewcomers: issuedBy(fleet.newcomers) - idsBefore };
}

/** How often a holder has found out that the database is not as it left it. */
function troublesOf(holder: Issuer): number {
  return holder.count('database-regression') + holder.count('lease-lost');
}

async function acquire(issuer: Issuer): Promise<void> {
  const acquired = nextReports(issuer, 'lease-acquired', 1);
  issuer.open();
  await acquired;
}

async function nextReports(issuer: Issuer, report: 'lease-acquired' | 'lease-renewed', count: number): Promise<void> {
  const enough = issuer.count(report) + count;
  await issuer.until(`reports ${report}`, () => issuer.count(report) >= enough);
}

function issuedBy(issuers: readonly Issuer[]): number {
  return issuers.reduce((sum, issuer) => sum + issuer.issued, 0);
}

/** Every worker row's version on the primary, by id. */
async function versionsOn(pair: ServerPair): Promise<Map<number, number>> {
  const schema = pair.kind === 'mariadb' ? `${PAIR_DATABASE}.` : '';
  const rows = await pair.query(pair.primary, `SELECT id, version FROM ${schema}soc_raindrop_worker`);
  return new Map(rows.map(({ id, version }) => [Number(id), Number(version)]));
}
