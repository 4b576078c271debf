import { literal, pathSql, quoted, schemaSql } from '../mysql-names.js';
import { ownName, type Phase, type Replaced } from './uuid-key.js';
import type { MysqlUuid } from './mysql-uuid-facts.js';

/**
 * Which numbers rows get on MySQL and MariaDB. In `id = '7a3b...'` these servers compare a bigint with the digits at
 * the beginning of the text: here 7. An old link or an old process would read, change or delete row 7. So no row gets a
 * number with which a UUID can begin. A text has eight digits at most before its hyphen, and a binary(16) has eight
 * before the byte of the variant, which is no digit. A text with up to six digits and an exponent (`12e45678-`) is a
 * multiple of 1000, or less than the first number. A text without hyphens can begin with any number; one of 16 digits
 * is met by one such key in 10^19 / rows.
 */

/** Multiples of this are left out: a UUID with an exponent can be equal to them. */
const LEFT_OUT = 1_000n;

/** The first number that a row may get. @param type the type of the column of UUIDs */
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

/** So many rows have room below `reserve`. */
export function mysqlRoom(type: string, reserve: bigint): bigint {
  return ((reserve - firstMysqlNumber(type)) * (LEFT_OUT - 1n)) / LEFT_OUT;
}

/**
 * The triggers that fill the new columns of rows which are written while the old rows are being numbered.
 * @param counter the table that counts the new rows, where the table has a key that gets numbers
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
  // The latest committed value counts, also when the transaction has read an older one.
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
