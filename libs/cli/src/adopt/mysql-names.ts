/** A table with the database that it stands in. */
export interface PlacedTable {
  readonly schema: string;
  readonly table: string;
}

/** @returns true where both are the same table */
export function sameTable(a: PlacedTable, b: PlacedTable): boolean {
  return a.schema === b.schema && a.table === b.table;
}

/** Without the name of the connection's own database: the migration runs in others as well. */
export function pathSql({ schema, table }: PlacedTable, home: string): string {
  return schema === home ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;
}

export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}
