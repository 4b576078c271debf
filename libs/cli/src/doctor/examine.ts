import { type Layout, RaindropError, type WorkerStore, type WorkerTable } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '@raindrop/node/internal';
import { chooseLayout, DEFAULT_LAYOUT } from '@raindrop/core/internal';
import { DatabaseCallError, DatabaseRefusedError, DriverNotInstalledError } from '@raindrop/node';
import { isMissingTable } from '../service/open-workers.js';
import {
  checkClock,
  checkForeign,
  checkLayout,
  checkRights,
  checkTable,
  fail,
  type Finding,
  ok,
  warn,
} from './checks.js';

const NO_ROUTE = 'let this host through to the database: firewall, security group, network';

/** The remedies for a database that cannot be reached, by the error code of Node or of the driver. */
const CURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'start the database, or correct host and port in --url: nothing listens there',
  ENOENT: 'start the database, or correct its socket in --url',
  ENOTFOUND: 'correct the host in --url: no name server knows it',
  EAI_AGAIN: 'look at the name servers of this host: they do not answer',
  ETIMEDOUT: NO_ROUTE,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ECONNRESET: 'look whether a database listens there, and whether it wants TLS: it hung up',
  PROTOCOL_CONNECTION_LOST: 'look at the log of the database: it hung up',
  ER_CON_COUNT_ERROR: 'raise max_connections, or lower the pools of the services: all connections are taken',
  '53300': 'raise max_connections, or lower the pools of the services: all connections are taken',
  '57P03': 'wait: the database is starting',
  SQLITE_BUSY: 'end what holds the file for long: another process writes',
  SQLITE_NOTADB: 'correct --url: this file is not a SQLite database',
};

/** What an examination has found. */
export interface Examination {
  readonly findings: Finding[];
  /** The layout that a start would take; undefined when that is not known. */
  readonly layout?: Layout;
}

/** Runs every check that makes sense after those before it. It changes nothing in the database. */
export async function examine(store: WorkerStore, given: ResolvedSnowflakeOptions): Promise<Examination> {
  const { lease } = given;
  try {
    // The first call connects. The second one, which is timed, then measures the answer alone.
    await store.readTable();
    const before = Date.now();
    const table = await store.readTable();
    const after = Date.now();
    const { options, unclear } = withFoundLayout(given, table);
    const { layout } = options;
    const rights = await checkRights(store, table, layout);
    const findings = [
      ok('database', `reached, ${options.tableName} is there, answers in ${after - before} ms`),
      rights,
      checkClock(before, table.nowMs, after, lease.maxClockSkewMs),
      ...(await checkDurability(store)),
    ];
    // What the account may not see would be told as missing.
    if (rights.state === 'fail') return { findings, ...(unclear === undefined && { layout: layout.layout }) };
    findings.push(
      ...(unclear === undefined ? checkLayout(layout, table, lease.graceMs) : [unclear]),
      ...checkAdvice(options),
      await checkForeign(store, table, lease),
      ...checkTable(table, layout.workers, lease.graceMs, lease.sharedWithOriginal),
    );
    return { findings, ...(unclear === undefined && { layout: layout.layout }) };
  } catch (error) {
    if (!(error instanceof RaindropError)) throw error;
    return { findings: [fail('database', error.message, remedyFor(error))] };
  }
}

async function checkDurability(store: WorkerStore): Promise<Finding[]> {
  const warnings = await store.durabilityWarnings();
  if (warnings.length === 0) return [ok('durability', 'an acknowledged commit outlives a crash')];
  return warnings.map((each) =>
    warn('durability', each, 'change the setting, see docs/reliability.md#databases-that-lose-commits'),
  );
}

/** The warnings of a layout that depend on how the service is used. */
function checkAdvice({ layout }: ResolvedSnowflakeOptions): Finding[] {
  return layout.warnings
    .filter(({ code }) => code === 'FEW_WORKERS' || code === 'CAPACITY')
    .map(({ message }) => warn('layout use', message, 'see raindrop plan'));
}

/** Completes the options by the layout that a start would take; `unclear` says why it would take none. */
function withFoundLayout(
  options: ResolvedSnowflakeOptions,
  table: WorkerTable,
): { readonly options: ResolvedSnowflakeOptions; readonly unclear?: Finding } {
  if (options.withLayout === undefined) return { options };
  try {
    return { options: options.withLayout(chooseLayout(table, DEFAULT_LAYOUT, options.lease).layout) };
  } catch (error) {
    if (!(error instanceof RaindropError)) throw error;
    return { options, unclear: fail('layout', error.message, `see docs/errors.md, ${error.errorCode}`) };
  }
}

/** The remedy for an error that ends the examination. */
export function remedyFor(error: RaindropError): string {
  if (isMissingTable(error)) return 'run raindrop init, or correct --url and --table';
  if (error instanceof DriverNotInstalledError) return `npm install ${error.packageName}`;
  if (error instanceof DatabaseRefusedError) return 'correct --url, or what the account may do';
  const cure = error instanceof DatabaseCallError ? CURES[error.driverCode] : undefined;
  if (cure !== undefined) return cure;
  if (/time(d )?out|no answer/i.test(error.message)) return NO_ROUTE;
  return `see docs/errors.md, ${error.errorCode}`;
}
