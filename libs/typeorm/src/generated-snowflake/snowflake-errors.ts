import { RaindropError } from '@raindrop/core';

/** `@GeneratedSnowflake()` cannot work with a column or with an option. */
export class UnsupportedColumnError extends RaindropError {
  static override readonly name = 'UnsupportedColumnError';
  readonly errorCode = 'UNSUPPORTED_COLUMN';

  constructor(
    /** `Entity.property`. */
    readonly column: string,
    readonly reason: string,
  ) {
    super(`@GeneratedSnowflake() on ${column}: ${reason}.`, { retryable: false });
  }
}

/** The cause says why an insert came without an ID. */
export type NotAssignedCause = 'unattached' | 'silent' | 'column-list' | 'default' | 'join-table' | 'twice' | 'frozen';

/** An insert reached the database layer without an ID: nothing had filled the column. Nothing was written. */
export class SnowflakeNotAssignedError extends RaindropError {
  static override readonly name = 'SnowflakeNotAssignedError';
  readonly errorCode = 'SNOWFLAKE_NOT_ASSIGNED';

  constructor(
    readonly service: string,
    /** `table.property`. */
    readonly column: string,
    /**
     * `unattached`: no service fills this DataSource. `silent`: this way of inserting calls no subscribers.
     * `column-list`: the statement names its columns, and not this one. `default`: the value is the SQL `DEFAULT`, by which
     * the database would issue the ID. `join-table`: TypeORM inserts the links of a many-to-many relation into the table of
     * the column's entity. `twice`: one object was to become two rows. `frozen`: the object takes no property.
     */
    readonly why: NotAssignedCause,
    cause?: unknown,
    /** The many-to-many relation whose link was to be inserted, such as `post.tags` (by its table); only where `why` is `join-table`. */
    readonly relation?: string,
  ) {
    super(`${column} was inserted without an ID` + WAY_OUT[why](service, column, relation), {
      retryable: false,
      cause,
    });
  }
}

type WayOut = (service: string, column: string, relation: string | undefined) => string;

const WAY_OUT: Readonly<Record<NotAssignedCause, WayOut>> = {
  unattached: (service) =>
    `, because service '${service}' is not attached to its DataSource. Import ` +
    `RaindropModule.forRoot(${service === 'default' ? '' : `{ name: '${service}' }`}) and save after it has started; ` +
    `for a DataSource made outside Nest or initialised again, call ids.attach(dataSource). Migrations that TypeORM ` +
    `runs itself (migrationsRun) run before any service: in Nest, run them after the start ` +
    `(app.get(DataSource).runMigrations()), or set the IDs of their rows yourself (docs/typeorm.md).`,
  silent: (service, column) =>
    `: this way of inserting calls no subscribers (listeners: false, callListeners(false)). Remove that option, call ` +
    `ids.assign(entity) first, or set ${column} to a new ID of service '${service}'.`,
  'column-list': (service, column) =>
    `: the statement lists its columns, and ${column} is not among them. Add it (values() are then filled; with ` +
    `valuesFromSelect and your own SQL, select new IDs of service '${service}'), or omit the list.`,
  default: (_, column) =>
    `: its value is the SQL DEFAULT, and no object would know the ID that the database issues. Leave ${column} out of the ` +
    `values, which are then filled, or send the insert by dataSource.query().`,
  'join-table': (_, column, relation) => {
    const [table] = column.split('.');
    return (
      `: ${relation} is a many-to-many relation whose join table ${table} is that of an entity, and TypeORM inserts only ` +
      `its two foreign keys there. To add a link, save an entity of ${table} with its two relations; ${relation} still ` +
      `reads and removes links.`
    );
  },
  twice: () =>
    ` of its own: the same object becomes two rows, in one call or in two concurrent ones, but holds one ID. Create ` +
    `an object for each row: Array.from({ length: 3 }, () => ({ ... })), or { ...object }. insert() accepts one ` +
    `object twice.`,
  frozen: (_, column) =>
    `: the object cannot be given one (Object.freeze, Object.seal, Object.preventExtensions, a property without a ` +
    `setter). Pass a copy, { ...object }, or set ${column} where the object is created. insert() accepts frozen ` +
    `objects.`,
};

/** `attachSnowflakes` was given a DataSource that has no metadata yet. */
export class DataSourceNotInitializedError extends RaindropError {
  static override readonly name = 'DataSourceNotInitializedError';
  readonly errorCode = 'DATA_SOURCE_NOT_INITIALIZED';

  constructor(readonly service: string) {
    super(
      `Service '${service}' cannot be attached to a DataSource that is not initialised: await dataSource.initialize() ` +
        `first, and attach again after every initialize().`,
      { retryable: false },
    );
  }
}

/** Another service of the same name fills the columns of this DataSource already. */
export class AlreadyAttachedError extends RaindropError {
  static override readonly name = 'AlreadyAttachedError';
  readonly errorCode = 'ALREADY_ATTACHED';

  constructor(readonly service: string) {
    super(
      `Another service named '${service}' is already attached to this DataSource. Is RaindropModule imported twice? ` +
        `Give one of them another name, and set { service: '<name>' } in its columns.`,
      { retryable: false },
    );
  }
}

/** An entity was to be given an ID that has no column for one here. */
export class UnknownEntityError extends RaindropError {
  static override readonly name = 'UnknownEntityError';
  readonly errorCode = 'UNKNOWN_ENTITY';

  constructor(
    readonly service: string,
    readonly entity: string,
  ) {
    super(
      `${entity} has no @GeneratedSnowflake() column of service '${service}' in a DataSource that is attached to it. ` +
        `For a plain object, name the entity: ids.assign(object, Order).`,
      { retryable: false },
    );
  }
}

/** `SnowflakeBetween()` reached a database without having become IDs. */
export class UnresolvedRangeError extends RaindropError {
  static override readonly name = 'UnresolvedRangeError';
  readonly errorCode = 'UNRESOLVED_RANGE';

  constructor() {
    super(
      `SnowflakeBetween() works on @GeneratedSnowflake() columns, and foreign keys that hold their IDs, of a ` +
        `DataSource with an attached snowflake service. Elsewhere, compare with ids.layout.idFloor(from) and ` +
        `ids.layout.idCeil(to).`,
      { retryable: false },
    );
  }
}

/** A table with rows whose key TypeORM would replace. */
export interface UnmigratedTable {
  readonly table: string;
  readonly rows: number;
  /** The columns of IDs that are not yet as the entity says, and what they are. */
  readonly columns: readonly { readonly column: string; readonly problem: string }[];
}

/** `synchronize` of TypeORM would lose keys of rows. It was stopped before it changed anything. */
export class UnmigratedTableError extends RaindropError {
  static override readonly name = 'UnmigratedTableError';
  readonly errorCode = 'UNMIGRATED_TABLE';

  constructor(
    readonly tables: readonly UnmigratedTable[],
    /** What makes the tables as the entities say, such as `raindrop adopt --table orders`. */
    readonly cure: string,
  ) {
    const lines = tables.map(({ table, rows, columns }) => {
      const problems = columns.map(({ column, problem }) => `${column} ${problem}`);
      return `  - ${table} (${rows} ${rows === 1 ? 'row' : 'rows'}): ${problems.join(', ')}`;
    });
    super(
      `TypeORM's synchronize would drop keys of rows, or fail. It was stopped, and nothing was changed:\n${lines.join('\n')}\n` +
        `Set synchronize: false, then ${cure} (docs/migration.md). If the rows are worthless, delete them instead.`,
      { retryable: false },
    );
  }
}
