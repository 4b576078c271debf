/** Typed IDs in `sql`, and placeholders: Drizzle converts no value there that it is given without a column. */

import { Column, is, Param, Placeholder, SQL, StringChunk } from 'drizzle-orm';
import { comparedColumns } from '@raindrop/node/internal';
import { idsOf } from './column.js';
import { methodOfParts, wordsOf } from './releases.js';
import { type DrizzleClass, replaceMethod } from './replace-method.js';

/**
 * Replaces the method by which Drizzle makes a statement of the parts of a condition. A typed ID, or a placeholder of one, that
 * the condition compares with a typed column becomes a parameter of this column: `eq(orders.id, sql.placeholder('id'))`,
 * `sql\`(${orders.tenantId}, ${orders.id}) in (${...})\``. MySQL and SQLite would compare the text, and find no row.
 */
export function convertTypedValues(Sql: DrizzleClass): void {
  replaceMethod<object, [chunks: readonly unknown[], ...others: unknown[]]>(
    Sql,
    methodOfParts(Sql),
    (original) =>
      function (chunks, ...others) {
        return original.call(this, converted(chunks), ...others);
      },
  );
}

/** Returns the parts themselves where there is nothing to convert, as in all conditions of Drizzle with values. */
function converted(chunks: readonly unknown[]): readonly unknown[] {
  if (!chunks.some(isTypedColumn) || !chunks.some(isUnbound)) return chunks;
  const parts = flat(chunks);
  const columns: Column[] = [];
  const values: number[] = [];
  const text = parts.map((part, at) => {
    // A mark of PostgreSQL's operators is no parameter.
    if (is(part, StringChunk)) return wordsOf(part).replaceAll('?', ' ');
    if (is(part, Column)) return ` c${columns.push(part) - 1} `;
    return isValue(part) ? ` $${values.push(at)} ` : ' other ';
  });
  for (const { index, columns: compared, place } of comparedColumns(text.join(''))) {
    const at = values[index]!;
    const column = columns[Number(/^c(\d+)$/.exec(compared[place]?.column ?? '')?.[1])];
    if (column !== undefined && isTypedColumn(column) && !is(parts[at], Param)) parts[at] = bound(parts[at], column);
  }
  return parts;
}

/** Drizzle's own brackets around a list, and the parts of `sql` in `sql`. */
function flat(chunks: readonly unknown[]): unknown[] {
  return chunks.flatMap((chunk) => {
    if (Array.isArray(chunk)) {
      const list = chunk.flatMap((each: unknown, at) => (at === 0 ? [each] : [new StringChunk(', '), each]));
      return [new StringChunk('('), ...flat(list), new StringChunk(')')];
    }
    return isPlainSql(chunk) ? flat(chunk.queryChunks) : [chunk];
  });
}

function isPlainSql(chunk: unknown): chunk is SQL {
  return is(chunk, SQL) && !(chunk as unknown as { shouldInlineParams: boolean }).shouldInlineParams;
}

/** It is asked for every part of every statement: Drizzle's `is()` would take too long. */
function isTypedColumn(chunk: unknown): boolean {
  return typeof chunk === 'object' && chunk !== null && idsOf(chunk)?.keys.form.prefix !== undefined;
}

/** Whether a part is, or contains, a value without a column. */
function isUnbound(chunk: unknown): boolean {
  if (Array.isArray(chunk)) return chunk.some(isUnbound);
  return isTyped(chunk) || is(chunk, Placeholder) || (isPlainSql(chunk) && chunk.queryChunks.some(isUnbound));
}

function isValue(part: unknown): boolean {
  return is(part, Param) || is(part, Placeholder) || typeof part !== 'object' || part === null;
}

function isTyped(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9_]+_[0-9A-Za-z]+$/.test(value);
}

/** Digits and bigints are what the database holds, and stay. */
function bound(value: unknown, column: Column): unknown {
  const write = (each: unknown): unknown =>
    Array.isArray(each) ? each.map(write) : isTyped(each) ? column.mapToDriverValue(each) : each;
  return is(value, Placeholder) || isTyped(value) ? new Param(value, { mapToDriverValue: write }) : value;
}
