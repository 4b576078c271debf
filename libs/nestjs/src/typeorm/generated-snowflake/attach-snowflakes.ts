import type { DataSource, EntityMetadata } from 'typeorm';
import { columnValuesOf, type ColumnMetadata } from './column-values.js';
import { GeneratedColumn, ownsColumn, ReferenceColumn } from './generated-column.js';
import { refuseColumn } from './refuse-column.js';
import { safeSqliteIntegers, type SqliteDatabase } from './safe-sqlite-integers.js';
import { AlreadyAttachedError, DataSourceNotInitializedError } from './snowflake-errors.js';
import type { SnowflakeSource } from './snowflake-source.js';
import { SnowflakeSubscriber } from './snowflake-subscriber.js';
import { markOf } from './snowflake-transformer.js';

/**
 * Lets a service fill its `@GeneratedSnowflake()` columns on every insert through a DataSource. The properties of
 * foreign keys get the type of the key they point at. A `better-sqlite3` database is made to answer with exact integers,
 * see {@link safeSqliteIntegers}; nothing else is needed there.
 *
 * The subscriber goes in front of all others: they see the ID. Attaching a service twice does nothing; a DataSource that
 * was initialised anew has to be attached anew.
 *
 * @returns detaches: inserts fail with `SnowflakeNotAssignedError` again. Safe to call twice.
 * @throws DataSourceNotInitializedError; AlreadyAttachedError when another service has this name; UnsupportedColumnError
 */
export function attachSnowflakes(dataSource: DataSource, source: SnowflakeSource): () => void {
  if (!dataSource.isInitialized) throw new DataSourceNotInitializedError(source.name);
  const present = dataSource.subscribers.find(
    (each): each is SnowflakeSubscriber => each instanceof SnowflakeSubscriber && each.source.name === source.name,
  );
  if (present?.source === source) return present.detach;
  if (present !== undefined) throw new AlreadyAttachedError(source.name);

  const found = findColumns(dataSource, source.name);
  const { generated, references } = found;
  for (const each of generated.values()) {
    refuseColumn(each, {
      database: dataSource.options.type,
      layout: source.layout,
      nowMs: Date.now(),
      isReferenced: [...references.values()].some(({ key }) => key === each),
    });
  }

  if (generated.size > 0) makeSqliteExact(dataSource);
  const unbind = bind(dataSource, found);
  const { subscribers } = dataSource;
  const subscriber = new SnowflakeSubscriber(source, columnsByEntity(dataSource, generated), () => {
    const index = subscribers.indexOf(subscriber);
    if (index < 0) return;
    subscribers.splice(index, 1);
    unbind();
  });
  subscribers.unshift(subscriber);
  return subscriber.detach;
}

interface FoundColumns {
  readonly generated: ReadonlyMap<ColumnMetadata, GeneratedColumn>;
  readonly references: ReadonlyMap<ColumnMetadata, ReferenceColumn>;
}

function findColumns({ entityMetadatas }: DataSource, service: string): FoundColumns {
  const columns = new Set(entityMetadatas.flatMap((metadata) => metadata.columns));
  const generated = new Map<ColumnMetadata, GeneratedColumn>();
  for (const column of columns) {
    const mark = markOf(column.transformer);
    if (mark?.service === service) generated.set(column, new GeneratedColumn(column, mark));
  }
  const references = new Map<ColumnMetadata, ReferenceColumn>();
  for (const column of columns) {
    const key = keyBehind(column, generated);
    if (key !== undefined) references.set(column, new ReferenceColumn(column, key));
  }
  return { generated, references };
}

/** A foreign key may point at a key that is a foreign key itself. */
function keyBehind(
  column: ColumnMetadata,
  generated: ReadonlyMap<ColumnMetadata, GeneratedColumn>,
): GeneratedColumn | undefined {
  const seen = new Set<ColumnMetadata>();
  for (let next = column.referencedColumn; next !== undefined && !seen.has(next); next = next.referencedColumn) {
    const key = generated.get(next);
    if (key !== undefined) return key;
    seen.add(next);
  }
  return undefined;
}

/** @returns undoes it */
function bind({ driver }: DataSource, { generated, references }: FoundColumns): () => void {
  const values = columnValuesOf(driver);
  const marks = [...generated.keys()].map((column) => ({ column, transformer: column.transformer }));
  for (const [column, each] of generated) {
    values.set(column, each);
    column.transformer = undefined;
  }
  // A foreign key with a transformer of the user's own is the user's.
  const plain = [...references].filter(([column]) => column.transformer === undefined);
  for (const [column, each] of plain) values.set(column, each);
  return () => {
    for (const { column, transformer } of marks) column.transformer = transformer;
    for (const column of [...generated.keys(), ...references.keys()]) values.delete(column);
  };
}

function columnsByEntity(
  dataSource: DataSource,
  generated: FoundColumns['generated'],
): Map<EntityMetadata, GeneratedColumn[]> {
  const byEntity = new Map<EntityMetadata, GeneratedColumn[]>();
  for (const metadata of dataSource.entityMetadatas) {
    const owned = metadata.columns.filter((column) => ownsColumn(metadata, column));
    const columns = owned.flatMap((column) => generated.get(column) ?? []);
    if (columns.length > 0) byEntity.set(metadata, columns);
  }
  return byEntity;
}

/** The connection is open already: what TypeORM prepared on it so far is prepared anew. */
function makeSqliteExact({ options, driver }: DataSource): void {
  if (options.type !== 'better-sqlite3') return;
  const { databaseConnection, queryRunner } = driver as unknown as {
    readonly databaseConnection?: SqliteDatabase;
    readonly queryRunner?: { readonly stmtCache?: unknown };
  };
  if (databaseConnection === undefined) return;
  safeSqliteIntegers(databaseConnection);
  if (queryRunner?.stmtCache instanceof Map) queryRunner.stmtCache.clear();
}
