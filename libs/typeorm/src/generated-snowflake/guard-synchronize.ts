import { DataSource } from 'typeorm';
import { findColumns, GeneratedColumn, servicesOf } from './generated-column.js';
import { type Columns, quoted, type RealColumn, readRealColumns } from './real-columns.js';
import { UnmigratedTableError, type UnmigratedTable } from './snowflake-errors.js';

const INSTALLED = Symbol.for('@raindrop/typeorm:guard-synchronize');

interface Synchronizing {
  synchronize: (this: DataSource, dropBeforeSync?: boolean) => Promise<void>;
  [INSTALLED]?: true;
}

/**
 * Replaces `DataSource.synchronize`, which `initialize()`, Nest's start and `typeorm schema:sync` call: it changes nothing
 * while a table with rows has a key that was not migrated. TypeORM does not convert such a column. It drops the column
 * and adds an empty one: MariaDB loses the keys, PostgreSQL fails.
 *
 * The declaration of a column calls this: `initialize()` synchronizes before any service can be attached.
 */
export function guardSynchronize(): void {
  const dataSources = DataSource.prototype as unknown as Synchronizing;
  if (dataSources[INSTALLED] === true) return;
  Object.defineProperty(dataSources, INSTALLED, { value: true });
  const { synchronize } = dataSources;
  dataSources.synchronize = async function (dropBeforeSync) {
    // TypeORM refuses a DataSource without a connection.
    if (this.isInitialized && dropBeforeSync !== true) await refuseUnmigrated(this);
    return synchronize.call(this, dropBeforeSync);
  };
}

/** A column of IDs that TypeORM would replace. */
interface Replaced {
  readonly column: Columns;
  readonly real: RealColumn | undefined;
}

/** @throws UnmigratedTableError */
async function refuseUnmigrated(dataSource: DataSource): Promise<void> {
  const columns = [...servicesOf(dataSource)].flatMap((name) => {
    const { generated, references } = findColumns(dataSource, { name, layout: undefined });
    return [...generated, ...references].filter((each) => isSynchronized(each, dataSource));
  });
  const realOf = columns.length === 0 ? undefined : await readRealColumns(dataSource, columns);
  if (realOf === undefined) return;
  const byTable = new Map<string, Replaced[]>();
  for (const column of columns) {
    const real = realOf(column);
    if (!isReplaced(column, real)) continue;
    const { tablePath } = column.column.entityMetadata;
    byTable.set(tablePath, [...(byTable.get(tablePath) ?? []), { column, real }]);
  }
  const tables: UnmigratedTable[] = [];
  const unmigrated: Replaced[] = [];
  for (const [table, replaced] of byTable) {
    const rows = await countRows(dataSource, table);
    if (rows === 0) continue;
    unmigrated.push(...replaced);
    tables.push({
      table,
      rows,
      columns: replaced.map(({ column, real }) => ({ column: column.column.databaseName, problem: problemOf(real) })),
    });
  }
  if (tables.length > 0) throw new UnmigratedTableError(tables, cureOf(unmigrated));
}

function isSynchronized({ column }: Columns, { driver }: DataSource): boolean {
  const { synchronize, tableType } = column.entityMetadata;
  // A child's columns are also those of its parent, whose table it uses.
  return (
    synchronize && tableType !== 'view' && tableType !== 'entity-child' && driver.normalizeType(column) === 'bigint'
  );
}

/** Whether TypeORM would replace a column, or add one that needs IDs for the rows. */
function isReplaced(column: Columns, real: RealColumn | undefined): boolean {
  if (real === undefined) return column instanceof GeneratedColumn && !column.column.isNullable;
  return !/^bigint\b/i.test(real.type) || (column instanceof GeneratedColumn && real.filler?.isCounter === true);
}

function problemOf(real: RealColumn | undefined): string {
  if (real === undefined) return 'is not there';
  return `is ${real.type}${real.filler?.isCounter === true ? ' and filled by the database' : ''}`;
}

function cureOf(replaced: readonly Replaced[]): string {
  const keysWhere = (isMeant: (real: RealColumn) => boolean): string => {
    const tables = replaced.flatMap(({ column, real }) => {
      const key = column instanceof GeneratedColumn ? column : column.key;
      return real !== undefined && isMeant(real) ? [key.column.entityMetadata.tablePath] : [];
    });
    return [...new Set(tables)].join(',');
  };
  const integers = keysWhere(({ type }) => /int/i.test(type));
  const others = keysWhere(({ type }) => !/int/i.test(type));
  const missing = replaced.flatMap(({ column: { column }, real }) =>
    real === undefined ? [`${column.entityMetadata.tablePath}.${column.databaseName}`] : [],
  );
  return [
    ...(integers === '' ? [] : [`run the migration that raindrop adopt --table ${integers} prints`]),
    ...(others === '' ? [] : [`run the migrations that raindrop adopt --from uuid --table ${others} writes`]),
    ...(missing.length === 0 ? [] : [`write a migration that gives each row its ${missing.join(', ')}`]),
  ].join(', and ');
}

/** @returns 0 for a table that is not there yet */
async function countRows(dataSource: DataSource, table: string): Promise<number> {
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await runner.hasTable(table))) return 0;
    const [row] = (await runner.query(`SELECT COUNT(*) AS total FROM ${quoted(dataSource.driver, table)}`)) as [
      { readonly total: unknown },
    ];
    return Number(row.total);
  } finally {
    await runner.release();
  }
}
