import { codecs } from '@raindrop/core';
import { MAX_ID } from '@raindrop/core/internal';
import type { Layout } from '@raindrop/core';
import type { Family } from '@raindrop/node/internal';
import { createFunction, idTypeOf } from './layout-sql.js';

/** The codec that `typedId()` takes by default: its texts have a fixed width, and sort like the IDs. */
const CODEC = codecs['base62-padded'];

/** The digits of the codec, from zero up. */
const DIGITS = Array.from({ length: 62 }, (_, digit) => codecs.base62.encode(BigInt(digit))).join('');

/** What each digit of a text counts, from the first one: 62^10 to 1. */
const WEIGHTS = Array.from({ length: CODEC.width }, (_, index) => 62n ** BigInt(CODEC.width - 1 - index));

/** The prefixes that `typedId()` accepts. */
const PREFIX = '[a-z]([a-z0-9_]{0,29}[a-z0-9])?';

/** A prefix of 31 characters, `_` and the ID. */
const LONGEST = 31 + 1 + CODEC.width;

/** How a database handles texts: by their characters' code points, whatever the session's settings are. */
interface TextSql {
  /** The type of a text that is given. */
  readonly given: string;
  /** The type of a text that a function answers with. */
  readonly answer: string;
  /** A text as it is compared. */
  readonly exact: (text: string) => string;
  /** Whether all of a text matches a pattern. */
  readonly matches: (text: string, pattern: string) => string;
  /** The digit of an ID that counts `weight`. */
  readonly write: (id: string, weight: bigint) => string;
  /** What a digit counts, 0 for the first of {@link DIGITS}. */
  readonly read: (digit: string) => string;
  readonly concat: (texts: readonly string[]) => string;
}

const TEXT_SQL: Readonly<Record<Family, TextSql | undefined>> = {
  mysql: {
    // A shorter type could cut a text outside strict mode.
    given: 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    answer: `VARCHAR(${LONGEST}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    exact: (text) => text,
    // $ also matches before a last line feed.
    matches: (text, pattern) => `${text} REGEXP '^${pattern}$' AND ${text} NOT REGEXP '[^0-9A-Za-z_]'`,
    write: (id, weight) => `substr('${DIGITS}', (${id} DIV ${weight}) % 62 + 1, 1)`,
    read: (digit) => `(locate(${digit}, '${DIGITS}') - 1)`,
    concat: (texts) => `concat(${texts.join(', ')})`,
  },
  postgres: {
    given: 'text',
    answer: 'text',
    exact: (text) => `(${text} COLLATE "C")`,
    matches: (text, pattern) => `(${text} COLLATE "C") ~ '^${pattern}$'`,
    write: (id, weight) => `substr('${DIGITS}', (${id} / ${weight} % 62)::int + 1, 1)`,
    // As bigint, also where the product is one of two integers.
    read: (digit) => `(strpos('${DIGITS}', ${digit} COLLATE "C") - 1)::bigint`,
    concat: (texts) => texts.join(' || '),
  },
  sqlite: undefined,
};

/**
 * Writes the functions of typed IDs. `raindrop_typed(id, prefix)` answers with the text of `typedId(prefix).encode(id)`,
 * `raindrop_id_of(text)` with the ID of a text of any prefix. What the codec refuses is NULL, and so is NULL. None on
 * SQLite, which has no functions in SQL.
 */
export function typedFunctionsSql(layout: Layout, family: Family): string[] {
  const sql = TEXT_SQL[family];
  if (sql === undefined) return [];
  const { given, answer, exact, matches, write, read, concat } = sql;
  const id = idTypeOf(layout, family);
  const { width } = CODEC;

  const isLegal = `id BETWEEN 0 AND ${MAX_ID} AND ${matches('prefix', PREFIX)}`;
  const digits = WEIGHTS.map((weight) => write('id', weight));
  const typed = `CASE WHEN ${isLegal} THEN ${concat(['prefix', "'_'", ...digits])} END`;

  const end = `right(typed, ${width})`;
  // The texts sort like the IDs: those above that of the largest ID are no IDs.
  const isId = `${exact(end)} <= '${CODEC.encode(MAX_ID)}'`;
  const isTyped = `${matches('typed', `${PREFIX}_[0-9A-Za-z]{${width}}`)} AND ${isId}`;
  const terms = WEIGHTS.map((weight, index) => `${read(`substr(${end}, ${index + 1}, 1)`)} * ${weight}`);
  const idOf = `CASE WHEN ${isTyped} THEN ${terms.join(' + ')} END`;

  return [
    ...createFunction(family, 'raindrop_typed', `id ${id}, prefix ${given}`, answer, typed),
    ...createFunction(family, 'raindrop_id_of', `typed ${given}`, id, idOf),
  ];
}
