import { createHash } from 'node:crypto';
import { PermanentError } from '@raindrop/core/internal';

/** A table, and the schema (MySQL: the database) it is in when that is not the connection's own. */
export interface TableName {
  readonly schema: string | undefined;
  readonly name: string;
}

/** The names that {@link isTableName} accepts, in words. */
export const TABLE_NAME_RULE =
  "'table' or 'schema.table', each of 1 to 63 letters, digits and underscores, not beginning with a digit";

/** The table name is not a plain identifier. */
export class InvalidTableNameError extends PermanentError {
  static override readonly name = 'InvalidTableNameError';
  readonly errorCode = 'INVALID_TABLE_NAME';

  constructor(readonly tableName: unknown) {
    super(
      `tableName = ${String(JSON.stringify(tableName)).slice(0, 80)} is not a table name: it must be ` +
        `${TABLE_NAME_RULE}.`,
    );
  }
}

const PART = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** PostgreSQL keeps 63 bytes of a name and MySQL 64 characters; what is longer is cut without a word, or refused. */
const LONGEST = 60;

/** Whether a text is `table` or `schema.table` of plain identifiers. */
export function isTableName(text: string): boolean {
  const parts = text.split('.');
  return parts.length <= 2 && parts.every((part) => PART.test(part));
}

/**
 * Reads `table` or `schema.table`.
 *
 * @throws InvalidTableNameError when a part has other characters than letters, digits and underscores
 */
export function parseTableName(text: string, defaultSchema?: string): TableName {
  if (typeof text !== 'string' || !isTableName(text)) throw new InvalidTableNameError(text);
  const [name, schema = defaultSchema] = text.split('.').reverse();
  return { name: name!, schema };
}

/** The name of the index on one column. */
export function indexNameOf({ name }: TableName, column: string): string {
  return shortened(`idx_${name}_${column}`);
}

/** Names of up to 60 characters stay; the end of longer ones gives way to a hash of the whole. */
export function shortened(name: string): string {
  if (name.length <= LONGEST) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 10);
  return `${name.slice(0, LONGEST - 11)}_${hash}`;
}
