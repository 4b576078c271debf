/** What this package uses of Sequelize. Its own types leave out much of it. */

import type { Attribute } from './key.js';

export type Row = Record<string, unknown>;

/** What this file calls of an instance. */
export interface Instance {
  readonly dataValues: Row;
  readonly _previousDataValues: Row;
  isNewRecord: boolean;
  changed(name: string): boolean;
  set(name: string, value: unknown, options: { raw: true }): unknown;
}

/** What this file calls of a model. Models with another schema or scope are classes that extend it. */
export interface Model {
  readonly name: string;
  readonly tableName: string;
  readonly _schema?: string | null;
  autoIncrementAttribute: string | null;
  readonly sequelize: Sequelize;
  readonly prototype: {
    save: (this: Instance, options?: CallOptions) => Promise<unknown>;
    _initValues: (this: Instance, values: Row, options: object) => void;
  };
  readonly options: { readonly hooks: Record<string, unknown[]> };
  readonly rawAttributes: Record<string, Attribute>;
  /** Those with a column. */
  readonly tableAttributes: Record<string, Attribute>;
  readonly fieldRawAttributesMap: Record<string, Attribute>;
  readonly associations: Readonly<Record<string, { readonly associationType: string }>>;
  readonly primaryKeys: Record<string, { readonly field: string }>;
  readonly uniqueKeys: Record<string, { readonly fields: readonly string[] }>;
  readonly _indexes: readonly { readonly unique?: boolean; readonly where?: unknown; readonly fields: unknown[] }[];
  refreshAttributes(): void;
  readonly bulkCreate: (this: Model, records: readonly Row[], options?: CallOptions) => Promise<Instance[]>;
  readonly upsert: (this: Model, values: Row, options?: CallOptions) => Promise<unknown>;
  unscoped(): { findAll(options: object): Promise<Row[]> };
}

export interface Sequelize {
  readonly models: Record<string, Model>;
  getDialect(): string;
  getQueryInterface(): QueryInterface;
}

export type Table = string | { readonly tableName: string; readonly schema?: string };

export interface QueryInterface {
  insert(instance: Instance | null, table: Table, values: Row, options?: CallOptions): Promise<unknown>;
  bulkInsert(table: Table, rows: readonly Row[], options?: CallOptions, attributes?: object): Promise<unknown>;
  upsert: (table: Table, values: Row, updates: Row, where: object, options: UpsertOptions) => Promise<unknown>;
  update(instance: Instance, table: Table, values: Row, where: Row, options?: CallOptions): Promise<unknown>;
  select(model: Model | null | undefined, table: Table, options?: SelectOptions): Promise<unknown>;
  rawSelect(table: Table, options: { readonly dataType?: unknown }, name: string, model: unknown): Promise<unknown>;
  createTable: (table: Table, attributes?: object, ...rest: unknown[]) => Promise<unknown>;
  addColumn: ChangeColumn;
  changeColumn: ChangeColumn;
  increment: Increment;
  decrement: Increment;
  readonly queryGenerator: { whereItemsQuery(where: object, options: { readonly model: Model }): string };
}

type ChangeColumn = (table: Table, column: string, attribute: unknown, ...rest: unknown[]) => Promise<unknown>;

export type Increment = (model: Model, table: Table, where: object, ...rest: unknown[]) => Promise<unknown>;

export interface CallOptions {
  readonly fields?: readonly string[];
  readonly ignoreDuplicates?: boolean;
  readonly updateOnDuplicate?: readonly string[];
  readonly conflictAttributes?: readonly string[];
  readonly conflictFields?: readonly string[];
  readonly returning?: boolean | readonly unknown[];
  readonly include?: unknown;
  readonly hooks?: boolean;
  readonly model?: Model;
  readonly transaction?: unknown;
  readonly logging?: unknown;
  readonly searchPath?: unknown;
}

export interface SelectOptions {
  readonly raw?: boolean;
  /** Of an `include` with `separate` and `limit`. */
  readonly groupedLimit?: {
    readonly on: { readonly source?: Model; readonly sourceKey: string };
    readonly values: readonly unknown[];
  };
}

export interface UpsertOptions extends CallOptions {
  /** None where the application calls the query interface itself. */
  readonly instance?: Instance;
  readonly model: Model;
}

/** Marks what has got IDs. */
export const GUARDED = Symbol('guarded');

export function modelOf(instance: Instance): Model {
  return instance.constructor as unknown as Model;
}
