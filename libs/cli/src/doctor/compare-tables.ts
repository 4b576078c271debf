import { Layout, type WorkerRow, type WorkerTable } from '@raindrop/core';
import { isHeld, shapeOfFingerprint } from '@raindrop/core/internal';
import { fail, type Finding, ok, warn } from './checks.js';

const APART = 'share one worker table, or use separate worker ids or end bits: see docs/microservices.md';

/** A worker table that was read at one of several URLs. */
export interface TableRead {
  /** The URL without account and password. */
  readonly name: string;
  /** The same text for two URLs that lead to one table; undefined where the server does not tell it. */
  readonly whereabouts: string | undefined;
  readonly table: WorkerTable;
  /** The layout of a start, for a table that has served none. */
  readonly first: Layout;
  readonly graceMs: number;
}

/** The IDs that a table gives, or has given: worker ids, and layouts as fingerprints. */
interface Issued {
  readonly workerIds: readonly number[];
  readonly layouts: readonly string[];
}

/**
 * Compares each table with each other one: whether both can give one ID. It compares worker ids and fixed bits, not
 * times: with two epochs an ID is given twice at different times.
 *
 * `fail`: the layouts in use give equal IDs. `warn`: earlier layouts may have given some, those in use do not.
 */
export function compareTables(tables: readonly TableRead[]): Finding[] {
  const findings = tables.flatMap((one, index) => tables.slice(index + 1).flatMap((other) => comparePair(one, other)));
  const trouble = findings.filter(({ state }) => state !== 'ok');
  if (trouble.length > 0) return trouble;
  const same = findings.length > 0 ? `; ${findings.map(({ detail }) => detail).join('; ')}` : '';
  return [ok('equal IDs', `no ID is given twice by ${listed(tables.map(({ name }) => name))}${same}`)];
}

function comparePair(one: TableRead, other: TableRead): Finding[] {
  const names = `${one.name} and ${other.name}`;
  if (one.whereabouts !== undefined && one.whereabouts === other.whereabouts) {
    return [ok('equal IDs', `${names} are one table`)];
  }
  const now = overlapOf(presentOf(one), presentOf(other));
  if (now !== undefined) return [fail('equal IDs', `${names} can give the same ID: ${now}`, APART)];
  const before = overlapOf(pastOf(one), pastOf(other));
  if (before === undefined) return [];
  return [
    warn(
      'equal IDs',
      `${names} may have given the same ID before: ${before}; the layouts in use do not`,
      'treat older IDs of the two as different only together with the name of their service',
    ),
  ];
}

/** The layouts with which rows are held or were written last, and every row that a start may acquire. */
function presentOf({ table: { rows, deleted, layouts, nowMs }, first, graceMs }: TableRead): Issued {
  const used = [...rows, ...deleted].filter(({ layout }) => layout !== '');
  const latest = Math.max(...used.map(({ heartbeatMs }) => heartbeatMs));
  const inUse = used.filter((row) => isHeld(row, nowMs, graceMs) || row.heartbeatMs === latest);
  const noted = inUse.length > 0 ? inUse.map(({ layout }) => layout) : layouts;
  return { workerIds: idsOf(rows), layouts: noted.length > 0 ? [...new Set(noted)] : [first.fingerprint] };
}

/** Every layout that the table remembers, and every worker id that was used. */
function pastOf({ table: { rows, deleted, layouts } }: TableRead): Issued {
  const used = [...rows, ...deleted].filter(({ code, layout }) => code !== '' || layout !== '');
  const known = [...layouts, ...used.map(({ layout }) => layout)].filter((each) => each !== '');
  return { workerIds: idsOf(used), layouts: [...new Set(known)] };
}

function idsOf(rows: readonly WorkerRow[]): number[] {
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

/** In words, which IDs of the two can be equal; undefined when none can. */
function overlapOf(one: Issued, other: Issued): string | undefined {
  for (const mine of one.layouts) {
    for (const theirs of other.layouts) {
      const [a, b] = [shapeOfFingerprint(mine), shapeOfFingerprint(theirs)];
      if (a === undefined || b === undefined) return `this release cannot read ${a === undefined ? mine : theirs}`;
      const found = overlapOfLayouts(new Layout(a), one.workerIds, new Layout(b), other.workerIds);
      if (found === undefined) continue;
      const layouts = mine === theirs ? `the layout ${mine}` : `the layouts ${mine} and ${theirs}`;
      return found.length === 0 ? layouts : `both have ${found} of ${layouts}`;
    }
  }
  return undefined;
}

/**
 * The worker ids that both have, in words: '' where the layouts place them in different bits, and some fit together.
 * Undefined when no ID of the one is an ID of the other.
 */
function overlapOfLayouts(
  mine: Layout,
  myIds: readonly number[],
  theirs: Layout,
  theirIds: readonly number[],
): string | undefined {
  // Bits of worker and end that both layouts have at one place. In all others an ID of the one may have any value.
  const common = maskOf(mine) & maskOf(theirs);
  const bitsOf = (layout: Layout, workerId: number): bigint =>
    layout.pack({ tick: 0, workerId, clockBack: 0, sequence: 0 }) & common;
  const taken = new Set(theirIds.filter((id) => id <= theirs.maxWorkerId).map((id) => bitsOf(theirs, id)));
  const equal = myIds.filter((id) => id <= mine.maxWorkerId && taken.has(bitsOf(mine, id)));
  if (equal.length === 0) return undefined;
  const shared = equal.filter((id) => theirIds.includes(id));
  return placesOf(mine) === placesOf(theirs) && shared.length > 0 ? `workers ${rangesOf(shared)}` : '';
}

function maskOf({ fields }: Layout): bigint {
  return fields.reduce((mask, { role, bits, shift }) => {
    const isCompared = role === 'worker' || role === 'fixed';
    return isCompared ? mask | (((1n << BigInt(bits)) - 1n) << BigInt(shift)) : mask;
  }, 0n);
}

function placesOf({ fields }: Layout): string {
  return fields.map(({ role, shift }) => `${role}${shift}`).join();
}

/** `1-8, 12`. */
function rangesOf(ids: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === id - 1) last[1] = id;
    else ranges.push([id, id]);
  }
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return texts.length > 4 ? `${texts.slice(0, 4).join(', ')}, ...` : texts.join(', ');
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
