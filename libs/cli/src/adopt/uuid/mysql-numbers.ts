import { pathSql, quoted } from '../mysql-names.js';
import { ownName, type Phase, type Replaced } from './uuid-key.js';
import type { MysqlUuid } from './mysql-uuid-facts.js';

/**
 * Which numbers rows get on MySQL and MariaDB. Asked for `id = '7a3b...'`, these servers compare a bigint with the digits
 * that a text begins with: here 7. A link from before, or an old process, would read, change or delete row 7. So no
 * number is one that a UUID can begin with: a text has eight digits at most before its hyphen, sixteen bytes before the
 * variant, or up to six and an exponent (`12e45678-`), which gives a multiple of 1000 or less than the first number. A
 * text without hyphens can begin with any number; one of 16 digits is met by one such key in 10^19 / rows.
 */

/** Numbers that an exponent can give are left out. */
const LEFT_OUT = 1_000n;

/** @param type of the key that has UUIDs */
export function firstMysqlNumber(type: string): bigint {
  return (type.includes('(32)') ? 10n ** 15n : 10n ** 8n) + 1n;
}

/** SQL for the number of the row that is the `at`th, from 1 on. */
export function mysqlNumber(type: string, at: string): string {
  return `${firstMysqlNumber(type) - 1n} + ${at} + (${at} - 1) DIV ${LEFT_OUT - 1n}`;
}

/** SQL that takes the next number from a counter, into LAST_INSERT_ID(). */
function nextMysqlNumber(counter: string): string {
  const take = `INSERT INTO ${counter} () VALUES ();`;
  return `${take} IF LAST_INSERT_ID() % ${LEFT_OUT} = 0 THEN ${take} END IF;`;
}

/** How many rows have numbers below `reserve`. */
export function mysqlRoom(type: string, reserve: bigint): bigint {
  return ((reserve - firstMysqlNumber(type)) * (LEFT_OUT - 1n)) / LEFT_OUT;
}

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
