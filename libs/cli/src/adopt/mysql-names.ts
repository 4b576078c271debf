import { dialectOf } from '@raindrop/node/internal';
import type { Query } from './old-key.js';

/** A table, and its database. */
export interface PlacedTable {
  readonly schema: string;
  readonly table: string;
}

/** @returns true when both are the same table */
export function sameTable(a: PlacedTable, b: PlacedTable): boolean {
  return a.schema === b.schema && a.table === b.table;
}

/** Leaves out the name of the connection's own database: the migration also runs in databases of other names. */
export function pathSql({ schema, table }: PlacedTable, home: string): string {
  return schema === home ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;
}

/** The database in a condition on the catalogue. */
export function schemaSql(schema: string, home: string): string {
  return schema === home ? 'DATABASE()' : literal(schema);
}

export const quoted = (name: string): string => dialectOf('mysql').quote(name);

export function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** A column as SHOW CREATE TABLE writes it. */
export interface DefinedColumn {
  readonly name: string;
  /** The type, when it is an integer: `int(10) unsigned`. */
  readonly type: string | undefined;
  /** Everything after the type, with the blank before it: `MODIFY` drops what is not repeated. */
  readonly rest: string;
  /** The same without AUTO_INCREMENT. */
  readonly restWithoutAutoIncrement: string;
  /** Whether the database makes the values. */
  readonly isGenerated: boolean;
  /** The expression from which the column is computed. */
  readonly computedFrom: string | undefined;
  /** Whether its default is an expression: that may make keys as well. */
  readonly hasComputedDefault: boolean;
}

const TEXT = String.raw`'(?:[^'\\]|\\.|'')*'`;

/** A text, a quoted name or a comment is one token, whatever it holds. */
const TOKEN = new RegExp(`${TEXT}|"(?:[^"\\\\]|\\\\.|"")*"|\`(?:[^\`]|\`\`)*\`|/\\*.*?\\*/|\\w+|\\s+|.`, 'gsu');

const INTEGER = /^(?:tiny|small|medium|big)?int(?:\(\d+\))?(?: unsigned)?(?: zerofill)?/i;

const CONSTANT = new RegExp(`^\\s*(?:${TEXT}|-?[\\d.]+|NULL)(?=\\s|$)`, 'is');

/** Reads the columns of a table out of its SHOW CREATE TABLE, which was read while `sql_mode` was empty. */
export function definedColumns(createTable: string): DefinedColumn[] {
  const body = outerTokens(createTable).find((token) => token.startsWith('(')) ?? '()';
  return partsOf(body.slice(1, -1)).flatMap((part): DefinedColumn[] => {
    const [name = '', ...definition] = part;
    // A column begins with a quoted name; keys and constraints begin with a word.
    if (!name.startsWith('`')) return [];
    const text = definition.join('').trimStart();
    const type = INTEGER.exec(text)?.[0];
    const rest = text.slice(type?.length ?? 0).trimEnd();
    const tokens = outerTokens(rest);
    const after = (word: string): readonly string[] | undefined =>
      tokens.includes(word) ? tokens.slice(tokens.indexOf(word) + 1) : undefined;
    const fallback = after('DEFAULT')?.join('');
    const counting = tokens.indexOf('AUTO_INCREMENT');
    return [
      {
        name: name.slice(1, -1).replaceAll('``', '`'),
        type: type?.toLowerCase(),
        rest,
        // The blank before it goes as well.
        restWithoutAutoIncrement:
          counting === -1 ? rest : tokens.filter((_, at) => at !== counting && at !== counting - 1).join(''),
        isGenerated: counting !== -1,
        computedFrom: after('AS')?.find((token) => token.startsWith('(')),
        hasComputedDefault: fallback !== undefined && !CONSTANT.test(fallback),
      },
    ];
  });
}

/** The indexes of a table that its SHOW CREATE TABLE writes without any option, such as KEY `o` (`o`,`p`). */
export function plainIndexes(createTable: string): { readonly name: string; readonly columns: string }[] {
  const body = outerTokens(createTable).find((token) => token.startsWith('(')) ?? '()';
  return partsOf(body.slice(1, -1)).flatMap((part) => {
    const [word, , name, , columns, ...options] = part.join('').trimEnd() === '' ? [] : part;
    const isPlain = word === 'KEY' && options.join('').trim() === '' && columns?.startsWith('(') === true;
    return isPlain ? [{ name: name!, columns }] : [];
  });
}

/** The number that SHOW CREATE TABLE gives for an option of the table, such as PAGE_CHECKSUM; undefined without it. */
export function tableOption(createTable: string, name: string): string | undefined {
  const tokens = outerTokens(createTable);
  const options = tokens.slice(tokens.findIndex((token) => token.startsWith('(')) + 1);
  const at = options.indexOf(name);
  return at === -1 || options[at + 1] !== '=' ? undefined : options[at + 2];
}

/**
 * A clause for every ALTER TABLE of a table; empty when it needs none. MariaDB forgets PAGE_CHECKSUM of InnoDB's tables
 * at each ALTER TABLE that does not name it.
 */
export function keptOptions(createTable: string): string {
  const checksum = tableOption(createTable, 'PAGE_CHECKSUM');
  return checksum === undefined ? '' : `, PAGE_CHECKSUM = ${checksum}`;
}

/** Divides a body at its commas, into tokens. The first token of a part is no blank. */
function partsOf(body: string): string[][] {
  const parts: string[][] = [[]];
  for (const token of outerTokens(body)) {
    if (token === ',') parts.push([]);
    else if (parts.at(-1)!.length > 0 || token.trim() !== '') parts.at(-1)!.push(token);
  }
  return parts;
}

/** The tokens of a text; a pair of parentheses and its content is one token. */
function outerTokens(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (depth > 0) found[found.length - 1] += token;
    else found.push(token);
    if (token === '(') depth++;
    if (token === ')') depth--;
  }
  return found;
}

/** A foreign key, with all that is needed to create it again. */
export interface ForeignKey extends PlacedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: PlacedTable & { readonly columns: readonly string[] };
  /** ` ON DELETE ... ON UPDATE ...` */
  readonly rules: string;
}

/** Reads every foreign key of the server that the account may see. */
export async function foreignKeys(query: Query): Promise<ForeignKey[]> {
  const records = (await query(
    'SELECT k.TABLE_SCHEMA AS s, k.TABLE_NAME AS t, k.CONSTRAINT_NAME AS n, k.COLUMN_NAME AS c, ' +
      'k.REFERENCED_TABLE_SCHEMA AS rs, k.REFERENCED_TABLE_NAME AS rt, k.REFERENCED_COLUMN_NAME AS rc, ' +
      'r.DELETE_RULE AS d, r.UPDATE_RULE AS u FROM information_schema.KEY_COLUMN_USAGE k ' +
      'JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA ' +
      'AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME ' +
      'WHERE k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY s, t, n, k.ORDINAL_POSITION',
  )) as readonly Record<string, string>[];
  const byName = new Map<string, Record<string, string>[]>();
  for (const each of records) {
    const name = JSON.stringify([each['s'], each['t'], each['n']]);
    byName.set(name, [...(byName.get(name) ?? []), each]);
  }
  return [...byName.values()].map((parts) => {
    const { s, t, n, rs, rt, d, u } = parts[0] as Record<'s' | 't' | 'n' | 'rs' | 'rt' | 'd' | 'u', string>;
    const target = { schema: rs, table: rt, columns: parts.map((part) => part['rc']!) };
    const rules = ` ON DELETE ${d} ON UPDATE ${u}`;
    return { schema: s, table: t, name: n, columns: parts.map((part) => part['c']!), target, rules };
  });
}

export function addForeignKey({ name, columns, target, rules, ...place }: ForeignKey, home: string): string {
  const list = (names: readonly string[]): string => names.map(quoted).join(', ');
  // Without a database the server looks for the other table in the database of this one.
  const parent = place.schema === home ? pathSql(target, home) : `${quoted(target.schema)}.${quoted(target.table)}`;
  const refers = `FOREIGN KEY (${list(columns)}) REFERENCES ${parent} (${list(target.columns)})`;
  return `ALTER TABLE ${pathSql(place, home)} ADD CONSTRAINT ${quoted(name)} ${refers}${rules}`;
}

/**
 * The server drops an index that it made itself for a foreign key as soon as it makes one for the next, and gives that
 * the name of the key. An index that a statement names stays: so the same one is added here by its name.
 * @param indexes the plain indexes of the table
 */
export function dropForeignKey(
  { name, columns, ...place }: ForeignKey,
  indexes: ReturnType<typeof plainIndexes>,
  home: string,
): string {
  const own = indexes.filter((each) => each.columns === `(${columns.map(quoted).join(',')})`);
  const kept = own.map((each) => `, DROP INDEX ${each.name}, ADD INDEX ${each.name} ${each.columns}`);
  return `ALTER TABLE ${pathSql(place, home)} DROP FOREIGN KEY ${quoted(name)}${kept.join('')}`;
}
