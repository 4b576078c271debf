import { pathSql, quoted } from '../mysql-names.js';
import { nextMysqlNumber } from './mysql-numbers.js';
import { ownName, type Phase, type Replaced } from './uuid-key.js';
import type { MysqlUuid } from './mysql-uuid-facts.js';

/**
 * What fills the new columns of a table for the rows that are written while the old ones are numbered.
 * @param counter the table that counts the rows to come, where the table has a key that gets numbers
 */
export function mysqlTriggers(
  path: string,
  facts: MysqlUuid,
  replaced: readonly Replaced[],
  counter: string | undefined,
): { readonly phases: Phase[]; readonly drop: readonly string[] } {
  const columns = replaced.filter((each) => each.path === path);
  const { table } = columns[0]!;
  const { schema } = facts.columns.find((each) => each.path === path)!;
  const references = columns.filter(({ keep }) => keep === undefined);
  const key = columns.find(({ keep }) => keep !== undefined);
  // What was committed counts, whatever the transaction has seen before.
  const lookUp = ({ fresh, column, source }: Replaced): string =>
    source === undefined
      ? ''
      : `SET NEW.${quoted(fresh)} = (SELECT number FROM ${source.path} WHERE old_key = NEW.${quoted(column)} LOCK IN SHARE MODE);`;
  const number =
    key?.source === undefined || counter === undefined
      ? ''
      : `${lookUp(key)} IF NEW.${quoted(key.fresh)} IS NULL AND NOT EXISTS (SELECT 1 FROM ${path} o WHERE o.${quoted(key.column)} = ` +
        `NEW.${quoted(key.column)}) THEN ${nextMysqlNumber(counter)} SET NEW.${quoted(key.fresh)} = LAST_INSERT_ID(); ` +
        `INSERT INTO ${key.source.path} (number, old_key) VALUES (NEW.${quoted(key.fresh)}, NEW.${quoted(key.column)}); END IF; `;
  const guard =
    key === undefined
      ? ''
      : `IF NOT (NEW.${quoted(key.column)} <=> OLD.${quoted(key.column)}) THEN SIGNAL SQLSTATE '45000' ` +
        `SET MESSAGE_TEXT = 'this key must not change while its rows are numbered'; END IF; `;
  const changed = references.map(
    (each) => `IF NOT (NEW.${quoted(each.column)} <=> OLD.${quoted(each.column)}) THEN ${lookUp(each)} END IF;`,
  );
  const bodies = [
    ['INSERT', `${number}${references.map(lookUp).join(' ')}`],
    ['UPDATE', `${guard}${changed.join(' ')}`],
  ] as const;
  const at = replaced.findIndex((each) => each.path === path);
  const nameOf = (event: string): string => ownName(`${at}_${table}`, `${event.toLowerCase()}_`);
  const place = (event: string): string => pathSql({ schema, table: nameOf(event) }, facts.home);
  return {
    phases: bodies
      .filter(([, body]) => body !== '')
      .map(([event, body]) => ({
        name: `${event.toLowerCase()}s into ${table}`,
        unless:
          `SELECT 1 FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ${schemaSql(schema, facts.home)} ` +
          `AND TRIGGER_NAME = ${literal(nameOf(event))}`,
        run: [`CREATE TRIGGER ${place(event)} BEFORE ${event} ON ${path} FOR EACH ROW BEGIN ${body} END`],
      })),
    drop: bodies.map(([event]) => `DROP TRIGGER IF EXISTS ${place(event)}`),
  };
}

/** The connection's own database has no name in a migration. */
export function schemaSql(schema: string, home: string): string {
  return schema === home ? 'DATABASE()' : literal(schema);
}

export function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
