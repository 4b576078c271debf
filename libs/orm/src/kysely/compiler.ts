/** The compiler: it marks the IDs that are missing in a query, and refuses one that changes the key of a row it finds. */

import type { InsertQueryNode, MergeQueryNode, OperationNode, QueryCompiler, ValuesNode } from 'kysely';
import { keyUpdateRefused } from '../upserts.js';
import { isObject, keysOf, type NewId, refusal, type Tables } from './columns.js';
import { changedBy, isSame, mergeChanges } from './updated-keys.js';

export function fillingCompiler(compiler: QueryCompiler, tables: Tables): QueryCompiler {
  return { compileQuery: (node, queryId) => compiler.compileQuery(withNewIds(node, tables), queryId) };
}

/**
 * Returns the node with a {@link NewId} for each ID that is missing in its inserts, also in those of a `with` or in
 * `sql`. Nodes are frozen data: only those on the way to an insert are copied.
 */
function withNewIds<T extends object>(value: T, tables: Tables): T {
  const { kind } = value as Partial<OperationNode>;
  if (!Array.isArray(value) && LEAVES.has(kind)) return value;
  let node = value;
  // Every select passes here: a node without an insert below it costs no object.
  for (const name in value) {
    const before = value[name];
    if (!isObject(before)) continue;
    const after = withNewIds(before, tables);
    if (after === before) continue;
    if (node === value) node = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as T;
    node[name] = after;
  }
  if (isInsert(node)) return keysOf(node.into, tables).reduce(filled, node as InsertQueryNode) as object as T;
  if (kind === 'MergeQueryNode') checkMerge(node as object as MergeQueryNode, tables);
  return node;
}

/** Nodes that hold values of the application, or no insert and no table of a query. */
export const LEAVES = new Set<string | undefined>([
  undefined,
  'ValueNode',
  'ValuesNode',
  'PrimitiveValueListNode',
  'ReferenceNode',
  'IdentifierNode',
]);

/** The inserts and merges of a query, also those of a `with` or in `sql`. */
export function writesIn(value: object): (InsertQueryNode | MergeQueryNode)[] {
  const { kind } = value as Partial<OperationNode>;
  if (!Array.isArray(value) && LEAVES.has(kind)) return [];
  const below = Object.values(value).flatMap((each) => (isObject(each) ? writesIn(each) : []));
  return isInsert(value) || kind === 'MergeQueryNode' ? [...below, value as InsertQueryNode | MergeQueryNode] : below;
}

/** The inserts of a MERGE. */
export function insertsOf({ whens = [] }: MergeQueryNode): InsertQueryNode[] {
  return whens.flatMap(({ result }) => (result !== undefined && isInsert(result) ? [result] : []));
}

export function isInsert(node: object): node is InsertQueryNode {
  return (node as Partial<OperationNode>).kind === 'InsertQueryNode';
}

type Row = ValuesNode['values'][number];

/** Returns undefined where the rows come from a query. */
export function rowsOf({ values, defaultValues }: InsertQueryNode): readonly Row[] | undefined {
  if (defaultValues === true) return [{ kind: 'PrimitiveValueListNode', values: [] }];
  return values?.kind === 'ValuesNode' ? (values as ValuesNode).values : undefined;
}

/** The nodes or values of a column in the rows of an insert; undefined where these come from a query. */
export function givenIn(insert: InsertQueryNode, column: string): readonly unknown[] | undefined {
  const at = placeOf(column, insert);
  return rowsOf(insert)?.map(({ values }) => values[at]);
}

export function placeOf(column: string, { columns = [] }: InsertQueryNode): number {
  return columns.findIndex((each) => isSame(each, column));
}

function filled(insert: InsertQueryNode, [column, newId]: [string, NewId]): InsertQueryNode {
  const { columns = [] } = insert;
  const at = placeOf(column, insert);
  const rows = rowsOf(insert);
  if (rows === undefined && at < 0) throw refusal('select', newId);
  const changed = changedBy(insert, column, () => givenIn(insert, column));
  if (changed === 'replace') throw refusal(changed, newId);
  if (changed === 'key-update') throw keyUpdateRefused(newId.keys.place, LEAVE_OUT);
  if (rows === undefined || (at >= 0 && !rows.some((row) => isMissing(row.values[at])))) return insert;

  const name = { kind: 'ColumnNode', column: { kind: 'IdentifierNode', name: column } } as const;
  const values = { kind: 'ValuesNode', values: rows.map((row) => filledRow(row, at, newId)) };
  return { ...insert, defaultValues: false, columns: at < 0 ? [...columns, name] : columns, values } as InsertQueryNode;
}

/** @param at the place of the key; -1 where no row has one: it is appended */
function filledRow(row: Row, at: number, newId: NewId): Row {
  const place = at < 0 ? row.values.length : at;
  if (place > row.values.length || !isMissing(row.values[place])) return row;
  const values: unknown[] = [...row.values];
  values[place] = row.kind === 'PrimitiveValueListNode' ? newId : { kind: 'ValueNode', value: newId };
  return { kind: row.kind, values } as Row;
}

/** Kysely writes `DefaultInsertValueNode` where a row leaves the key out and other rows have it. */
function isMissing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  const { kind, value: inner } = value as { kind?: unknown; value?: unknown };
  return kind === 'DefaultInsertValueNode' || (kind === 'ValueNode' && (inner === undefined || inner === null));
}

function checkMerge(merge: MergeQueryNode, tables: Tables): void {
  for (const [column, newId] of keysOf(merge.into, tables)) {
    if (mergeChanges(merge, column)) throw keyUpdateRefused(newId.keys.place, LEAVE_OUT);
    for (const insert of insertsOf(merge)) {
      const at = placeOf(column, insert);
      if (at < 0 || rowsOf(insert)?.some((row) => isMissing(row.values[at]))) throw refusal('merge', newId);
    }
  }
}

const LEAVE_OUT =
  'Leave the column out of the update. If the row is found by its key, onConflict() may name the key, and set it to excluded.';
