/** Keys that a query of Kysely updates in rows that it finds. MikroORM's own Kysely has the same nodes. */

import type { ColumnNode, InsertQueryNode, MergeQueryNode, OperationNode } from 'kysely';
import { keepsKey, type KeyUpdate } from '../upserts.js';
import { isObject, tableOf } from './columns.js';

type Part = Partial<OperationNode> & Readonly<Record<string, unknown>>;
type Update = NonNullable<NonNullable<InsertQueryNode['onConflict']>['updates']>[number];

/** MySQL and SQLite ignore the case of names. SQLite accepts a column twice, and stores the first value. */
export function isSame(node: Partial<ColumnNode>, column: string): boolean {
  return node.column?.name.toLowerCase() === column.toLowerCase();
}

/**
 * Whether an insert may change the key of a row that it finds, and how.
 * @param given returns the nodes or values of the key in its rows; undefined where these come from a query
 */
export function changedBy(
  { into, onConflict, onDuplicateKey, replace, orAction }: InsertQueryNode,
  column: string,
  given: () => readonly unknown[] | undefined,
): 'replace' | 'key-update' | undefined {
  if (replace === true || /^replace$/i.test(orAction?.action ?? '')) return 'replace';
  const updates = [...(onConflict?.updates ?? []), ...(onDuplicateKey?.updates ?? [])];
  if (updates.length === 0) return undefined;
  const isFoundByKey = onConflict?.columns?.some((each) => isSame(each, column)) ?? false;
  const target = { tables: namesOf(into), column, isFoundByKey, given: given()?.map(valueOf) };
  return updates.every((update) => keeps(update, target)) ? undefined : 'key-update';
}

/** Whether a MERGE may change the key of a row that it finds: it sets it to what the key does not have to equal. */
export function mergeChanges({ into, using, whens = [] }: MergeQueryNode, column: string): boolean {
  const target = { tables: namesOf(into), column, isFoundByKey: false };
  const isOwn = (sql: string | undefined): boolean => keepsKey({ ...target, sql: sql ?? '?' });
  const equal = equalities(using?.on?.on).flatMap(([one, other]) => (isOwn(one) ? [other] : isOwn(other) ? [one] : []));
  const updates = whens.flatMap(({ result }) => (result as { updates?: readonly Update[] } | undefined)?.updates ?? []);
  return !updates.every((update) => keeps(update, target) || equal.includes(sqlOf(update.value) ?? ''));
}

function keeps({ column, value }: Update, target: Omit<KeyUpdate, 'sql' | 'value'>): boolean {
  if (!isSame(column as Partial<ColumnNode>, target.column)) return true;
  return keepsKey({ ...target, sql: sqlOf(value), value: valueOf(value) });
}

function namesOf(into: InsertQueryNode['into'] | MergeQueryNode['into']): string[] {
  const { schema, identifier } = tableOf(into) ?? {};
  if (identifier === undefined) return [];
  const alias = (into as { alias?: { name?: string } }).alias?.name;
  const qualified = schema === undefined ? [] : [`${schema.name}.${identifier.name}`];
  return [...qualified, ...(alias === undefined ? [identifier.name] : [alias])];
}

/** The sides of `=` that hold for every row of a join. */
function equalities(on: unknown): [string | undefined, string | undefined][] {
  if (!isObject(on)) return [];
  const { kind, left, right, leftOperand, operator, rightOperand, node } = on as Part;
  if (kind === 'AndNode') return [...equalities(left), ...equalities(right)];
  if (kind === 'ParensNode') return equalities(node);
  return (operator as Part | undefined)?.['operator'] === '=' ? [[sqlOf(leftOperand), sqlOf(rightOperand)]] : [];
}

/** The value of a node, or of a place in a list of values. */
function valueOf(part: unknown): unknown {
  return isObject(part) && (part as Part).kind === 'ValueNode' ? (part as Part)['value'] : part;
}

/** The SQL of a column, or of a function of columns; undefined for a value, and `?` for what is not understood. */
function sqlOf(part: unknown): string | undefined {
  if (!isObject(part)) return '?';
  const {
    kind,
    table,
    column,
    schema,
    identifier,
    name,
    func,
    arguments: args,
    sqlFragments,
    parameters,
  } = part as Part;
  const joined = (...parts: readonly unknown[]): string =>
    parts.flatMap((each) => (each ? [sqlOf(each)] : [])).join('.');
  const list = (parts: unknown): string[] => (parts as readonly unknown[]).map((each) => sqlOf(each) ?? '?');
  switch (kind as string) {
    case 'ValueNode':
      return undefined;
    case 'ReferenceNode':
      return joined(table, column);
    case 'TableNode':
      return joined(table);
    case 'SchemableIdentifierNode':
      return joined(schema, identifier);
    case 'ColumnNode':
      return joined(column);
    case 'IdentifierNode':
      return name as string;
    case 'FunctionNode':
      return `${func as string}(${list(args).join()})`;
    case 'RawNode': {
      const values = list(parameters);
      return (sqlFragments as readonly string[]).map((text, at) => text + (values[at] ?? '')).join('');
    }
    default:
      return '?';
  }
}
