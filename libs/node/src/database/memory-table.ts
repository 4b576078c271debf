/** They are the process's, not a service's: two of them, or two copies of this package, share one table. */
const tables: Map<string, unknown> = ((globalThis as Record<symbol, unknown>)[
  Symbol.for('@raindrop/node:memory-tables')
] ??= new Map()) as Map<string, unknown>;

/** The table of this kind and name in place of one in an in-memory database. */
export function memoryTable<Table>(kind: string, name: string, make: () => Table): Table {
  const key = `${kind} ${name}`;
  const table = (tables.get(key) as Table | undefined) ?? make();
  tables.set(key, table);
  return table;
}
