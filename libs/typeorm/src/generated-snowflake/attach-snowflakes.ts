import type { DataSource } from 'typeorm';
import { wallClock } from '@raindrop/core/internal';
import { endSqliteTransactions } from '../connection/sqlite-transactions.js';
import { report, STRICT_LINT, type EntityLint } from './entity-lint.js';
import {
  columnsByEntity,
  findColumns,
  GeneratedColumn,
  type ReferenceColumn,
  type SnowflakeSource,
} from './generated-column.js';
import { InsertGuard, isSnowflakeSubscriber, SnowflakeSubscriber } from './snowflake-subscriber.js';
import { lintColumns } from './lint-columns.js';
import {
  checkWrittenValues,
  compareAsRead,
  identifyBySetKeys,
  listKeys,
  readReturned,
  returnRowsByKey,
} from './patches.js';
import { separateRows } from './insert-rows.js';
import { makeSqliteExact } from './safe-sqlite-integers.js';
import { AlreadyAttachedError, DataSourceNotInitializedError } from './snowflake-errors.js';
import { TypedParameters } from './typed-parameters.js';

/**
 * Lets a service fill its `@GeneratedSnowflake()` columns on every insert through a DataSource. The properties of
 * foreign keys get the type of the key they point at. A `better-sqlite3` database is made to answer with exact integers,
 * see {@link safeSqliteIntegers}; nothing else is needed there.
 *
 * The subscriber goes in front of all others: they see the ID. Attaching a service twice does nothing; a DataSource that
 * was initialised anew has to be attached anew.
 *
 * @returns the subscriber; its `detach` makes inserts fail with `SnowflakeNotAssignedError` again, and is safe to call twice
 * @throws DataSourceNotInitializedError; AlreadyAttachedError when another service has this name; EntityLintError
 */
export function attachSnowflakes(
  dataSource: DataSource,
  source: SnowflakeSource,
  lint: EntityLint = STRICT_LINT,
): SnowflakeSubscriber {
  if (!dataSource.isInitialized) throw new DataSourceNotInitializedError(source.name);
  const present = attachedTo(dataSource).find((each) => each.source.name === source.name);
  if (present?.source === source) return present;
  if (present !== undefined) throw new AlreadyAttachedError(source.name);

  const { generated, references } = findColumns(dataSource, source);
  report(lintColumns(dataSource, generated, references, wallClock.now()), lint);

  if (generated.length > 0) {
    makeSqliteExact(dataSource);
    endSqliteTransactions(dataSource);
  }
  // A foreign key with a transformer of the application keeps it.
  const plain = references.filter(({ column }) => column.transformer === undefined);
  const columns = [...generated, ...plain];
  checkWrittenValues(dataSource.driver);
  readReturned(dataSource.driver);
  listKeys();
  returnRowsByKey();
  separateRows();
  const restore = columns.map(takeColumn);
  const { subscribers } = dataSource;
  const statements = {
    guard: new InsertGuard(dataSource, generated),
    typed: new TypedParameters(dataSource, columns),
  };
  const subscriber = new SnowflakeSubscriber(source, columnsByEntity(dataSource, generated), statements, () => {
    const index = subscribers.indexOf(subscriber);
    if (index < 0) return;
    subscribers.splice(index, 1);
    for (const each of restore) each();
  });
  subscribers.unshift(subscriber);
  return subscriber;
}

/** @returns gives the column its own transformer back */
function takeColumn(attached: GeneratedColumn | ReferenceColumn): () => void {
  const { column } = attached;
  const { transformer } = column;
  column.transformer = attached;
  const restore = [compareAsRead(column)];
  if (attached instanceof GeneratedColumn) restore.push(identifyBySetKeys(column));
  return () => {
    column.transformer = transformer;
    for (const each of restore) each();
  };
}

/** The services that fill a DataSource's columns. */
export function attachedTo({ subscribers }: DataSource): SnowflakeSubscriber[] {
  return subscribers.filter(isSnowflakeSubscriber);
}
