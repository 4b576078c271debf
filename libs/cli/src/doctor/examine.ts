import { type Layout, RaindropError, type WorkerStore, type WorkerTable } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '@raindrop/node/internal';
import { chooseLayout, DEFAULT_LAYOUT } from '@raindrop/core/internal';
import { DatabaseRefusedError, DriverNotInstalledError } from '@raindrop/node';
import { connectionCure } from '../service/connection-cures.js';
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
  return connectionCure(error) ?? `see docs/errors.md, ${error.errorCode}`;
}
