/**
 * An upsert of a row, while the table has a row with the same code. The codes are unique, as the keys are. The application
 * gives the key of the new row. Whatever the statement says, the row that is there keeps its key.
 */
export interface Upsert {
  /** of the table in docs/write-paths.md. */
  readonly row: string;
  /** `query`: the new row comes from a query. */
  readonly statement: 'single' | 'bulk' | 'query' | 'replace' | 'merge';
  /** The key of the new row: that of the row that is there, or another one. */
  readonly key: 'same' | 'another';
  /** What the statement names to find the row. MariaDB and MySQL find it by either. */
  readonly by: 'id' | 'code';
  /** How the update sets the key: not, to the key of the new row as SQL or as a value, or to a third key as a value. */
  readonly sets: 'others' | 'new key' | 'value' | 'third value';
}
