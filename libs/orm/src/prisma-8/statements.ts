/**
 * The middleware: it gives each inserted row its IDs when the statement is sent. Prisma asks a generator while it builds the
 * statement, cannot wait for it there, and may send the statement again.
 */

import { UnsafeSnowflakeError } from '@raindrop/core';
import { InsertRefusedError, type Keys } from '../ids.js';
import { keepsKey, keyUpdateRefused } from '../upserts.js';
import type { FieldParams, Fields } from './fields.js';

/** What is used of a statement, as Prisma hands it over to a middleware. */
export interface Statement {
  /** Its syntax tree. An insert has rows of parameters, and what an upsert does with a row that is there. */
  readonly ast: { readonly kind: string };
}

/** What is used of the parameters of a statement, which Prisma has not yet encoded. */
export interface Parameters {
  /** All parameters in their order. */
  entries(): Iterable<{ readonly ref: object; readonly value: unknown }>;
  /** Puts other values in their places, for this execution. */
  replaceValues(updates: Iterable<{ readonly ref: never; readonly newValue: unknown }>): void;
}

interface Insert extends Statement {
  readonly table: { readonly name: string; readonly namespaceId?: string | undefined };
  readonly rows: readonly Readonly<Record<string, Value>>[];
  readonly onConflict?: {
    readonly columns: readonly { readonly column: string }[];
    readonly action: { readonly kind: string; readonly set?: Readonly<Record<string, Value>> };
  };
}

interface Value {
  readonly kind: string;
  readonly value?: unknown;
}

/** In the place of an ID until the statement is sent. What would send it as it is asks it for its text. */
export class MissingId {
  constructor(readonly params: FieldParams) {}

  toString(): never {
    throw new InsertRefusedError(this.params.field, 'unfilled', UNFILLED);
  }

  toJSON(): never {
    return this.toString();
  }
}

const UNFILLED =
  'got no ID: the extension is not among the middleware. Write: ' +
  'const raindrop = snowflakes(ids); postgres({ ..., extensions: [raindrop], middleware: [raindrop] }), as its first one.';

/**
 * Puts IDs into the parameters of a statement, and waits where its tick is used up.
 * @throws InsertRefusedError for an upsert that changes the key of the row that it finds
 */
export async function fillStatement(
  fields: Fields,
  { ast }: Statement,
  contract: unknown,
  parameters: Parameters | undefined,
): Promise<void> {
  if (ast.kind !== 'insert') return;
  const insert = ast as unknown as Insert;
  refuseWrongKeys(fields, insert, contract);
  const missing = new Map<Keys, object[]>();
  for (const { ref, value } of parameters?.entries() ?? []) {
    if (!(value instanceof MissingId)) continue;
    const keys = fields.keysOf(value.params);
    const its = missing.get(keys);
    if (its === undefined) missing.set(keys, [ref]);
    else its.push(ref);
  }
  for (const [keys, refs] of missing) {
    const ids = await keys.takeWaiting(refs.length);
    parameters!.replaceValues(refs.map((ref, index) => ({ ref: ref as never, newValue: ids[index] })));
  }
}

function refuseWrongKeys(fields: Fields, { table, rows, onConflict }: Insert, contract: unknown): void {
  const { action, columns = [] } = onConflict ?? {};
  for (const { column, keys } of fields.ofTable(contract, table.namespaceId, table.name)) {
    const given = rows.map((row) => row[column]?.value);
    const rounded = given.find((value) => typeof value === 'number' && !Number.isSafeInteger(value));
    if (rounded !== undefined) throw new UnsafeSnowflakeError(keys.place, rounded as number, 'application');
    const update = action?.set?.[column];
    if (update === undefined) continue;
    const isFoundByKey = columns.some((each) => each.column === column);
    if (update.kind !== 'param-ref' || !keepsKey({ value: update.value, tables: [], column, isFoundByKey, given })) {
      throw keyUpdateRefused(keys.place, `Leave ${column} out of \`update\`.`);
    }
  }
}
