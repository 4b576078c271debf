/**
 * What a column can hold; each dialect has its type for it. `exact` text is ASCII and compared byte by byte, `key` text is
 * any and told apart by every character: by case, accents and trailing blanks. A `counter` is the table's primary key; the
 * database counts it up, and never back.
 */
export type ColumnKind =
  | 'bigint'
  | 'int'
  | 'small'
  | 'time'
  | 'counter'
  | { readonly text: number }
  | { readonly exact: number }
  | { readonly key: number };

export interface ColumnDefinition {
  readonly name: string;
  readonly kind: ColumnKind;
  /** SQL; 'now' and 'touched' (renewed by every update where the database can) are the dialect's. */
  readonly defaultValue?: string;
}

/** The most characters of a text. */
export function lengthOf(kind: Exclude<ColumnKind, string>): number {
  if ('text' in kind) return kind.text;
  return 'key' in kind ? kind.key : kind.exact;
}
