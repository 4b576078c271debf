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
export function nextMysqlNumber(counter: string): string {
  const take = `INSERT INTO ${counter} () VALUES ();`;
  return `${take} IF LAST_INSERT_ID() % ${LEFT_OUT} = 0 THEN ${take} END IF;`;
}

/** How many rows have numbers below `reserve`. */
export function mysqlRoom(type: string, reserve: bigint): bigint {
  return ((reserve - firstMysqlNumber(type)) * (LEFT_OUT - 1n)) / LEFT_OUT;
}
