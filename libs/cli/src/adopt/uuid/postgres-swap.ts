import { literal, quoted } from '../postgres-names.js';
import { ownName, type Phase, type Replaced } from './uuid-key.js';
import type { PostgresIndex, PostgresUuid } from './postgres-uuid-facts.js';

/** A batch is this many pages of 8 KiB: some thousand rows. */
const PAGES = 50;

/**
 * The phases that fill the new columns, then create NOT NULL and indexes as the old ones have. A writer waits for one
 * batch at most.
 */
export function prepared(facts: PostgresUuid, replaced: readonly Replaced[]): Phase[] {
  const tables = [...new Set(replaced.map(({ path }) => path))];
  return [
    ...tables.flatMap((path) =>
      fill(
        path,
        replaced.filter((each) => each.path === path && each.source !== undefined),
      ),
    ),
    ...replaced.filter(({ isNullable, source }) => !isNullable && source !== undefined).map(notNull),
    ...facts.indexes.map((index, at) => indexPhase(index.path, freshName(index, at), indexOf(index, at, replaced))),
  ];
}

/** The phase that creates a unique index over one column. */
export function uniqueIndex(path: string, name: string, column: string): Phase {
  return indexPhase(path, name, `CREATE UNIQUE INDEX CONCURRENTLY ${quoted(name)} ON ${path} (${quoted(column)})`);
}

function fill(path: string, columns: readonly Replaced[]): Phase[] {
  if (columns.length === 0) return [];
  const { table } = columns[0]!;
  const value = ({ column, source }: Replaced): string =>
    `(SELECT s.${quoted(source!.take)} FROM ${source!.path} s WHERE s.${quoted(source!.at)} = t.${quoted(column)})`;
  const isEmpty = columns.map(({ column, fresh }) => `t.${quoted(fresh)} IS NULL AND t.${quoted(column)} IS NOT NULL`);
  const sets = columns.map((each) => `${quoted(each.fresh)} = ${value(each)}`);
  const update = `UPDATE ${path} t SET ${sets.join(', ')} WHERE (${isEmpty.join(' OR ')})`;
  return [
    {
      name: `rows of ${table}`,
      last: `SELECT pg_relation_size(${literal(path)}::regclass) / current_setting('block_size')::int AS last`,
      each: `${update} AND t.ctid >= '({from},0)'::tid AND t.ctid < '({to},0)'::tid`,
      size: PAGES,
      // An update by another transaction moves rows to other pages: those are filled here.
      run: [update],
    },
  ];
}

function notNull({ path, table, fresh }: Replaced): Phase {
  const check = quoted(ownName(fresh, 'nn_'));
  const alter = `ALTER TABLE ${path}`;
  return {
    name: `${table}.${fresh} is never NULL`,
    unless: `SELECT 1 FROM pg_attribute WHERE attrelid = ${literal(path)}::regclass AND attname = ${literal(fresh)} AND attnotnull`,
    run: [
      `${alter} DROP CONSTRAINT IF EXISTS ${check}`,
      `${alter} ADD CONSTRAINT ${check} CHECK (${quoted(fresh)} IS NOT NULL) NOT VALID`,
      `${alter} VALIDATE CONSTRAINT ${check}`,
      // The valid constraint saves reading the table again. Both statements are one transaction.
      `${alter} ALTER COLUMN ${quoted(fresh)} SET NOT NULL; ${alter} DROP CONSTRAINT ${check}`,
    ],
  };
}

function indexPhase(path: string, name: string, create: string): Phase {
  return {
    name: `index ${name}`,
    unless:
      'SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid ' +
      `WHERE i.indrelid = ${literal(path)}::regclass AND c.relname = ${literal(name)} AND i.indisvalid`,
    run: [`DROP INDEX CONCURRENTLY IF EXISTS ${schemaOf(path)}${quoted(name)}`, create],
  };
}

/** `shop.` of `shop.orders`: an index is in the schema of its table. */
export function schemaOf(path: string): string {
  const match = /^("(?:[^"]|"")+"|[^".]+)\./.exec(path);
  return match === null ? '' : `${match[1]!}.`;
}

function freshName({ name }: PostgresIndex, at: number): string {
  return ownName(name, `${at}_`);
}

const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|./gsu;

/** The same index over the new columns. */
function indexOf(index: PostgresIndex, at: number, replaced: readonly Replaced[]): string {
  const mine = replaced.filter(({ path }) => path === index.path);
  const [head, ...rest] = index.definition.split(' USING ');
  const isUnique = head!.startsWith('CREATE UNIQUE');
  const tokens = rest.join(' USING ').match(TOKEN) ?? [];
  const body = tokens.map((token) => {
    const name = token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : token;
    const found = mine.find(({ column }) => column === name);
    return found === undefined ? token : quoted(found.fresh);
  });
  return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${quoted(freshName(index, at))} ON ${index.path} USING ${body.join('')}`;
}

interface SwapOptions {
  /** SQL that finds a record when the new columns have their final names. */
  readonly isDone: string;
  /** Statements that drop what is in the way. */
  readonly drops: readonly string[];
  /** Statements for the end. */
  readonly more: readonly string[];
}

/**
 * The phases that give the new columns the names of the old ones: one transaction, which changes the catalogue only.
 */
export function postgresSwap(facts: PostgresUuid, replaced: readonly Replaced[], options: SwapOptions): Phase[] {
  const { foreignKeys, indexes } = facts;
  const tables = [...new Set([...replaced, ...foreignKeys].map(({ path }) => path))];
  const isValid = (definition: string): boolean => !definition.endsWith(' NOT VALID');
  const statements = [
    `LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`,
    ...options.drops,
    ...foreignKeys.map(({ path, name }) => `ALTER TABLE ${path} DROP CONSTRAINT ${quoted(name)}`),
    ...indexes.map(({ path, schema, name, constraint }) =>
      constraint === null
        ? `DROP INDEX ${schema}${quoted(name)}`
        : `ALTER TABLE ${path} DROP CONSTRAINT ${quoted(name)}`,
    ),
    ...replaced.flatMap(renamed),
    ...indexes.map((index, at) => {
      const { path, schema, name, constraint } = index;
      if (constraint === null) return `ALTER INDEX ${schema}${quoted(freshName(index, at))} RENAME TO ${quoted(name)}`;
      const [kind, deferrable] = constraint.split('|');
      return `ALTER TABLE ${path} ADD CONSTRAINT ${quoted(name)} ${kind!} USING INDEX ${quoted(freshName(index, at))}${deferrable!}`;
    }),
    ...options.more,
    ...foreignKeys.map(
      ({ path, name, definition }) =>
        `ALTER TABLE ${path} ADD CONSTRAINT ${quoted(name)} ${definition}${isValid(definition) ? ' NOT VALID' : ''}`,
    ),
  ];
  return [
    { name: 'swap', unless: options.isDone, run: [statements.join(';\n')] },
    ...foreignKeys
      .filter(({ definition }) => isValid(definition))
      .map(({ path, name }) => ({
        name: `foreign key ${name}`,
        unless: `SELECT 1 FROM pg_constraint WHERE conrelid = ${literal(path)}::regclass AND conname = ${literal(name)} AND convalidated`,
        run: [`ALTER TABLE ${path} VALIDATE CONSTRAINT ${quoted(name)}`],
      })),
  ];
}

function renamed({ path, column, fresh, keep }: Replaced): string[] {
  const alter = `ALTER TABLE ${path}`;
  return [
    keep === undefined
      ? `${alter} DROP COLUMN ${quoted(column)}`
      : `${alter} RENAME COLUMN ${quoted(column)} TO ${quoted(keep)}`,
    `${alter} RENAME COLUMN ${quoted(fresh)} TO ${quoted(column)}`,
  ];
}

/** The trigger that fills the new columns of rows which are written while the old rows are being numbered. */
export function postgresTrigger(
  path: string,
  replaced: readonly Replaced[],
): { readonly phase: Phase; readonly drop: readonly string[] } {
  const mine = replaced.filter((each) => each.path === path);
  // The key comes first: a row may refer to itself.
  const columns = [...mine.filter(({ keep }) => keep !== undefined), ...mine.filter(({ keep }) => keep === undefined)];
  const { table } = columns[0]!;
  // Two schemas may have tables of the same name.
  const name = quoted(ownName(`${replaced.findIndex((each) => each.path === path)}_${table}`, 'fill_'));
  const body = columns.flatMap((each): string[] => {
    if (each.source === undefined) return [];
    const map = each.source.path;
    const [fresh, old] = [`NEW.${quoted(each.fresh)}`, `NEW.${quoted(each.column)}`];
    const lookUp = `SELECT number INTO ${fresh} FROM ${map} WHERE old_key = ${old};`;
    const before = `OLD.${quoted(each.column)}`;
    if (each.keep === undefined) {
      return [`IF TG_OP = 'INSERT' THEN ${lookUp} ELSIF ${old} IS DISTINCT FROM ${before} THEN ${lookUp} END IF;`];
    }
    return [
      `IF TG_OP = 'UPDATE' THEN IF ${old} <> ${before} THEN RAISE EXCEPTION ` +
        `${literal(`the key of ${table.replaceAll('%', '%%')} must not change while its rows are numbered`)}; END IF; ELSE ${lookUp} ` +
        // An upsert fires this trigger as well.
        `IF ${fresh} IS NULL AND NOT EXISTS (SELECT FROM ${path} WHERE ${quoted(each.column)} = ${old}) THEN ` +
        `INSERT INTO ${map} (old_key) VALUES (${old}) ON CONFLICT DO NOTHING RETURNING number INTO ${fresh}; END IF; END IF;`,
    ];
  });
  return {
    phase: {
      name: `new rows of ${table}`,
      unless: `SELECT 1 FROM pg_trigger WHERE tgrelid = ${literal(path)}::regclass AND tgname = ${literal(name.slice(1, -1).replaceAll('""', '"'))}`,
      run: [
        `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS ` +
          literal(`BEGIN ${body.join(' ')} RETURN NEW; END`),
        `CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE ON ${path} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
      ],
    },
    drop: [`DROP TRIGGER IF EXISTS ${name} ON ${path}`, `DROP FUNCTION IF EXISTS ${name}()`],
  };
}
