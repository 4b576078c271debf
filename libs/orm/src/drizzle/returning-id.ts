/** `$returningId()` of MySQL and MariaDB, where the key is declared by `primaryKey({ columns })`. */

import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type MySqlTable } from 'drizzle-orm/mysql-core';
import { COLUMNS } from './column.js';
import { type DrizzleClass, replaceMethod } from './replace-method.js';

interface Builder {
  readonly config: { readonly table: MySqlTable; readonly returning: { field: unknown; path: string[] }[] };
}

/**
 * Lets `$returningId()` return the ID of a key of several columns: Drizzle returns only columns declared by `.primaryKey()`.
 * Drizzle's drivers return one column of a row. If several columns of the key are generated, it is the first of the table.
 */
export function returnIdsOfCompositeKeys(MySqlInsertBase: DrizzleClass): void {
  replaceMethod<Builder, []>(MySqlInsertBase, '$returningId', (original) => {
    return function () {
      const result = original.call(this);
      const { table, returning } = this.config;
      if (returning.length > 0) return result;
      const names = getTableConfig(table).primaryKeys.flatMap(({ columns }) => columns.map(({ name }) => name));
      const isReturned = ([, column]: [string, { name: string }]): boolean =>
        COLUMNS.get(column)?.isGenerated === true && names.includes(column.name);
      const found = Object.entries(getTableColumns(table)).find(isReturned);
      if (found !== undefined) returning.push({ field: found[1], path: [found[0]] });
      return result;
    };
  });
}
