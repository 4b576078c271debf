import type { LooseColumn, TypedColumn } from './old-key.js';

/** A column of the database, as far as that is of interest here. */
export interface Candidate extends TypedColumn {
  /** Whether a foreign key names it. */
  readonly isLinked: boolean;
}

const NAME = /^(.+?)(?:_id|_ID|Id|ID)$/;

const INTEGER = /int/i;

/**
 * The columns that are named like a reference, hold integers and have no foreign key. Left out are those whose name is
 * that of their own table, or of a table whose key stays as it is.
 * @param keys those that change
 * @param tables the names of all tables
 */
export function looseColumns(
  candidates: readonly Candidate[],
  keys: readonly TypedColumn[],
  tables: readonly string[],
): LooseColumn[] {
  return candidates.flatMap(({ isLinked, ...each }): LooseColumn[] => {
    const stem = NAME.exec(each.column)?.[1];
    if (stem === undefined || isLinked || !INTEGER.test(each.type) || isNameOf(stem, each.table)) return [];
    if (keys.some((key) => key.table === each.table && key.column === each.column)) return [];
    const key = keys.find(({ table }) => isNameOf(stem, table));
    if (key === undefined && tables.some((table) => isNameOf(stem, table))) return [];
    return [{ ...each, perhaps: key === undefined ? null : `${key.table}.${key.column}` }];
  });
}

/** Whether `orderLine` or `order_line` speaks of a table `order_lines`. */
export function isNameOf(stem: string, table: string): boolean {
  const [one, many] = [stem, table].map((name) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase());
  return [one!, `${one!}s`, `${one!}es`, one!.replace(/y$/, 'ies')].includes(many!);
}
