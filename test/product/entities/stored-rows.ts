import type { DataSource, EntityMetadata } from 'typeorm';

/** A row's keys and 64-bit columns as the database's own text, by column name. */
export type StoredRow = Readonly<Record<string, string | null>>;

/** The rows of every table, by table and by primary key. */
export type StoredTables = ReadonlyMap<string, ReadonlyMap<string, StoredRow>>;

export async function storedTables(dataSource: DataSource): Promise<StoredTables> {
  const tables = new Map<string, ReadonlyMap<string, StoredRow>>();
  for (const metadata of tableMetadatas(dataSource)) {
    const keys = metadata.primaryColumns.map(({ databaseName }) => databaseName);
    const rows = await storedRows(dataSource, metadata);
    tables.set(metadata.tablePath, new Map(rows.map((row) => [keys.map((key) => row[key]).join(), row])));
  }
  return tables;
}

/** One for each table: a single-table parent knows the columns of its children. */
function tableMetadatas({ entityMetadatas }: DataSource): Iterable<EntityMetadata> {
  const widest = new Map<string, EntityMetadata>();
  for (const metadata of entityMetadatas) {
    const other = widest.get(metadata.tablePath);
    if (other === undefined || other.columns.length < metadata.columns.length) {
      widest.set(metadata.tablePath, metadata);
    }
  }
  return widest.values();
}

async function storedRows({ driver, manager, options }: DataSource, metadata: EntityMetadata): Promise<StoredRow[]> {
  const text = options.type === 'postgres' || options.type === 'better-sqlite3' ? 'TEXT' : 'CHAR';
  const columns = metadata.columns.filter(({ isPrimary, type }) => isPrimary || type === 'bigint');
  const names = new Set(columns.map(({ databaseName }) => driver.escape(databaseName)));
  const list = [...names].map((name) => `CAST(${name} AS ${text}) AS ${name}`).join(', ');
  return manager.query<StoredRow[]>(`SELECT ${list} FROM ${driver.escape(metadata.tablePath)}`);
}
