import { processWide } from '@raindrop/core/internal';

/** They are the process's, not a service's: two of them share one table. */
const tables = processWide('memory tables', () => new Map<string, unknown>());

/** The table of this kind and name in place of one in an in-memory database. */
export function memoryTable<Table>(kind: string, name: string, make: () => Table): Table {
  const key = `${kind} ${name}`;
  const table = (tables.get(key) as Table | undefined) ?? make();
  tables.set(key, table);
  return table;
}
