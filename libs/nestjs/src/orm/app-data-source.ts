/** A TypeORM `DataSource`, as far as the module needs it: its types are of no use to who has no TypeORM. */
export interface AppDataSource {
  readonly options: { readonly type: string };
  readonly isInitialized: boolean;
  readonly entityMetadatas: readonly unknown[];
}

/** Whose column it is, for a plain object: an entity's class, its `EntitySchema`, or its name. */
export type SnowflakeTarget =
  (abstract new (...parameters: never[]) => object) | { readonly options: { readonly name: string } } | string;

/** What is done about entities that cannot work, and where the others are logged. */
export interface ColumnLint {
  readonly mode: 'error' | 'warn' | 'off';
  readonly warn: (message: string) => void;
}
