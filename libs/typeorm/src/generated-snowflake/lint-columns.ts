import type { DataSource } from 'typeorm';
import { wallClock } from '@raindrop/core/internal';
import { dialectOf, type Family, isSupportedDatabase } from '@raindrop/node/internal';
import { databaseDefaultOf } from './database-defaults.js';
import type { ColumnMetadata } from './patches.js';
import { type EntityLint, type EntityProblem, report, roundedProblem } from './entity-lint.js';
import { findColumns, type GeneratedColumn, type ReferenceColumn, type SnowflakeSource } from './generated-column.js';
import { markOf, type SnowflakeMark } from './snowflake-transformer.js';
import type { IdProperty } from '@raindrop/core/internal';

const YEAR_MS = 365 * 86_400_000;

/** Every ID of up to 53 bits is an exact JavaScript number. */
const EXACT_BITS = 53;

/** The problems of columns that a service is about to fill: what would fail or lose digits later. */
export function lintColumns(
  dataSource: DataSource,
  generated: readonly GeneratedColumn[],
  references: readonly ReferenceColumn[],
  nowMs: number,
): EntityProblem[] {
  const firstLost = generated.find(({ mark }) => mark.isTypeLost);
  const problems = generated.flatMap((each) => {
    const isReferenced = references.some(({ key }) => key === each);
    const faults = [
      ...columnFaults(each),
      ...numberFaults(each, nowMs),
      ...relationFaults(each, isReferenced),
      ...(each === firstLost ? [lostType(generated)] : []),
      ...driverFaults(dataSource, each.mark.as),
    ];
    return faults.map((fault) => problemOf(each.column, dataSource, fault));
  });
  return [...problems, ...joinProblems(dataSource, references)];
}

/** Marked columns of a DataSource that no service fills. */
export function lintServices(dataSource: DataSource): EntityProblem[] {
  return faultsOfMarked(dataSource, ({ service }) =>
    fault(
      `there is no service '${service}' for this DataSource`,
      `Import RaindropModule with name: '${service}' and this dataSource, or correct the column's service`,
    ),
  );
}

/** Marked columns of a DataSource that no service was attached to. `isMine` says which services' columns are reported. */
export function lintUnnamed(dataSource: DataSource, isMine: (service: string) => boolean): EntityProblem[] {
  const name = (dataSource.options as { readonly name?: string }).name ?? 'default';
  return faultsOfMarked(dataSource, ({ service }) => {
    if (!isMine(service)) return undefined;
    const who = service === 'default' ? '' : ` with name: '${service}'`;
    return fault(
      `no service fills the DataSource '${name}'`,
      `Name it where RaindropModule is imported${who}: forRoot({ dataSource: '${name}', ... }), a list for several; ` +
        `or call ids.attach(dataSource) before the application has started`,
    );
  });
}

/** Columns that a service fills with numbers from segments, and the database with IDs of the layout of its worker table. */
export function lintNumbers(
  dataSource: DataSource,
  service: Pick<SnowflakeSource, 'name' | 'layout'>,
): EntityProblem[] {
  if (service.layout !== undefined) return [];
  return findColumns(dataSource, service).generated.flatMap(({ column }) => {
    if (databaseDefaultOf(column) === undefined) return [];
    const problem =
      `service '${service.name}' issues numbers from segments, and the function of databaseDefault issues IDs of a ` +
      'worker, which are larger by far';
    return [problemOf(column, dataSource, fault(problem, 'Remove databaseDefault'))];
  });
}

function faultsOfMarked(dataSource: DataSource, faultOf: (mark: SnowflakeMark) => Fault | undefined): EntityProblem[] {
  const columns = new Set(dataSource.entityMetadatas.flatMap((entity) => entity.columns));
  return [...columns].flatMap((column) => {
    const mark = markOf(column.transformer);
    const found = mark && faultOf(mark);
    return found === undefined ? [] : [problemOf(column, dataSource, found)];
  });
}

function columnFaults({ column }: GeneratedColumn): Fault[] {
  const faults: Fault[] = [];
  if (column.type !== 'bigint') {
    faults.push(fault(`its type is '${String(column.type)}', not 'bigint'`, `Remove type, it is always bigint`));
  }
  if (column.isGenerated) {
    faults.push(fault('the database generates this column as well', 'Remove one of the two decorators'));
  }
  const other = column.isPrimary ? column.entityMetadata.primaryColumns.find((each) => each.isGenerated) : undefined;
  if (other !== undefined && other !== column) {
    faults.push(
      fault(
        `'${other.propertyPath}', which the database generates, is a primary key as well`,
        `Remove @PrimaryGeneratedColumn() from ${other.propertyPath}, or set primary: false here`,
      ),
    );
  }
  if (column.referencedColumn !== undefined) {
    faults.push(
      fault(
        'it is a foreign key, whose value comes from the relation',
        'Give the entity its own key, or remove the decorator',
      ),
    );
  }
  return faults;
}

/** Reported once for all columns: the cause is the compiler. */
function lostType(generated: readonly GeneratedColumn[]): Fault {
  const others = generated.filter(({ mark }) => mark.isTypeLost).length - 1;
  return {
    severity: 'warning',
    problem:
      `the compiler did not emit the property's type (esbuild and tsx never do), so it holds strings` +
      (others > 0 ? `, as do ${others} more` : ''),
    cure:
      `Set as: 'string', 'number' or 'bigint' in @GeneratedSnowflake(), or compile with emitDecoratorMetadata (tsc, ` +
      `SWC)`,
  };
}

function numberFaults({ mark, layout }: GeneratedColumn, nowMs: number): Fault[] {
  const safeUntil = layout?.safeUntil ?? null;
  if (mark.as !== 'number' || safeUntil === null || safeUntil.getTime() - nowMs > YEAR_MS) return [];
  // It ends there, and says so itself.
  if (layout!.bits <= EXACT_BITS) return [];
  const cure = `Make the property a string, or import RaindropModule with layout: 'number', for new tables`;
  if (safeUntil.getTime() <= nowMs) {
    return [fault(`it is a number, and the layout's IDs passed 2^53 - 1 at ${safeUntil.toISOString()}`, cure)];
  }
  const problem = `it is a number, and the layout's IDs will pass 2^53 - 1 at ${safeUntil.toISOString()}`;
  return [{ severity: 'warning', problem, cure }];
}

function relationFaults({ mark, column }: GeneratedColumn, isReferenced: boolean): Fault[] {
  if (mark.as !== 'bigint') return [];
  const cure = 'Make the property a string';
  if (column.isPrimary && (isReferenced || column.entityMetadata.relations.length > 0)) {
    return [fault('TypeORM cannot handle a bigint as the key of an entity with relations', cure)];
  }
  return isReferenced ? [fault('TypeORM cannot handle a bigint that a relation refers to', cure)] : [];
}

/**
 * TypeORM joins by the property names of foreign keys where a statement of its own loads the other side of a many-to-one. A
 * foreign key without a property has the name of the relation. Two of them have one name, and TypeORM compares one column with
 * both halves of the key.
 */
function joinProblems(dataSource: DataSource, references: readonly ReferenceColumn[]): EntityProblem[] {
  const isQueried = dataSource.options.relationLoadStrategy === 'query';
  const relations = new Set(references.flatMap(({ column }) => column.relationMetadata ?? []));
  return [...relations].flatMap(({ propertyName, propertyPath, joinColumns, isLazy }) => {
    const unnamed = joinColumns.filter((column) => column.propertyName === propertyName);
    if (unnamed.length < 2 || !(isQueried || isLazy)) return [];
    const keys = unnamed.map(({ databaseName }) => databaseName).join(' and ');
    const how = isLazy ? 'for a lazy relation' : "with relationLoadStrategy: 'query' for a relation";
    const found = fault(
      `TypeORM finds no row ${how} whose foreign keys ${keys} are not properties of the entity`,
      'Declare a @Column() of that name for each of them',
    );
    return [{ ...problemOf(unnamed[0]!, dataSource, found), property: propertyPath }];
  });
}

function fault(problem: string, cure: string): Fault {
  return { severity: 'error', problem, cure };
}

function problemOf(column: ColumnMetadata, { options }: DataSource, found: Fault): EntityProblem {
  return {
    ...found,
    entity: column.entityMetadata.name,
    table: column.entityMetadata.tablePath,
    property: column.propertyPath,
    driver: options.type,
  };
}

/** A problem without its column. */
type Fault = Pick<EntityProblem, 'severity' | 'problem' | 'cure'>;

/** Drivers of these databases return every integer as a JavaScript number. */
const ROUNDING: readonly string[] = ['sqlite', 'sqljs', 'expo', 'react-native', 'cordova', 'nativescript', 'capacitor'];

/** A value that a driver or a type parser must not round. */
const LARGE = '9223372036854775807';

/** The reasons why a DataSource's driver does not return exact IDs. */
function driverFaults(dataSource: DataSource, as: IdProperty): Fault[] {
  const { type } = dataSource.options as { type: string };
  if (type === 'mongodb') {
    return [error('MongoDB has no such columns', 'Set the property yourself, with ids.nextString()')];
  }
  if (ROUNDING.includes(type)) {
    return as === 'number' ? [] : [error('its driver rounds integers past 2^53 - 1', `Use 'better-sqlite3'`)];
  }
  if (!isSupportedDatabase(type)) {
    const problem = 'Raindrop is not tested with this database';
    return [{ severity: 'warning', problem, cure: 'Check that a 19-digit ID comes back digit for digit' }];
  }
  return as === 'number' ? [] : settingFaults(dataSource);
}

function settingFaults(dataSource: DataSource): Fault[] {
  const { options } = dataSource;
  const settings = { ...(options as { extra?: object }).extra, ...options } as DriverSettings;
  return SETTING_FAULTS[dialectOf(options.type).family](settings, dataSource);
}

const SETTING_FAULTS: Readonly<Record<Family, (settings: DriverSettings, dataSource: DataSource) => Fault[]>> = {
  mysql: ({ supportBigNumbers }) => {
    if (supportBigNumbers !== false) return [];
    return [error('supportBigNumbers: false makes mysql2 round IDs', 'Remove it: true is the default')];
  },
  postgres: postgresFaults,
  // Its connection is made exact: safe-sqlite-integers.ts.
  sqlite: () => [],
};

function postgresFaults(settings: DriverSettings, { driver }: DataSource): Fault[] {
  const own: unknown = settings.types?.getTypeParser?.(20, 'text')?.(LARGE);
  if (typeof own === 'number') return [error(roundedProblem(own, LARGE), 'Leave int8 (OID 20) out of extra.types')];
  const { types } = (driver as { postgres?: { types?: PostgresTypes } }).postgres ?? {};
  const parsed = types?.getTypeParser?.(20, 'text')?.(LARGE);
  if (settings.parseInt8 !== true && typeof parsed !== 'number') return [];
  return [error('pg is set to parse int8 as a number, which rounds IDs', 'Remove parseInt8 or the type parser')];
}

interface DriverSettings {
  readonly supportBigNumbers?: boolean;
  readonly parseInt8?: boolean;
  readonly types?: PostgresTypes;
}

interface PostgresTypes {
  getTypeParser?(oid: 20, format: 'text'): ((text: string) => unknown) | undefined;
}

function error(problem: string, cure: string): Fault {
  return { severity: 'error', problem, cure };
}

/**
 * Refuses entities that cannot work before their service takes a worker id: once it has one, its table remembers the
 * layout. Warnings are left to `attachSnowflakes`, which looks at all columns anyway.
 * @throws EntityLintError
 */
export function refuseColumns(
  dataSource: DataSource,
  service: Pick<SnowflakeSource, 'name' | 'layout'>,
  lint: EntityLint,
): void {
  if (lint.mode !== 'error') return;
  const { generated, references } = findColumns(dataSource, service);
  const problems = [
    ...lintColumns(dataSource, generated, references, wallClock.now()),
    ...lintNumbers(dataSource, service),
  ];
  report(
    problems.filter(({ severity }) => severity === 'error'),
    lint,
  );
}
