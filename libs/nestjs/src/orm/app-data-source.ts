/** The part of a TypeORM `DataSource` that the module uses: applications without TypeORM cannot load its types. */
export interface AppDataSource {
  readonly options: { readonly type: string };
  readonly isInitialized: boolean;
  readonly entityMetadatas: readonly unknown[];
}

/** Names the entity of a plain object: by its class, its `EntitySchema`, or its name. */
export type SnowflakeTarget =
  (abstract new (...parameters: never[]) => object) | { readonly options: { readonly name: string } } | string;

/** Whether entities that cannot work stop the start, and where they are logged if not. */
export interface ColumnLint {
  readonly mode: 'error' | 'warn' | 'off';
  readonly warn: (message: string) => void;
}
