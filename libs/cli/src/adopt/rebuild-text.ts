/** What a migration for SQLite brings along: a table is built anew by its own words, in which only a type is another. */
export const REBUILD = `
/** Texts, names in quotes and comments are one token each. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\`(?:[^\`]|\`\`)*\`|\\[[^\\]]*\\]|--[^\\n]*|\\/\\*.*?\\*\\/|\\w+|\\s+|./gsu;

/** With these the type of a column ends. */
const AFTER_TYPE = /^(?:CONSTRAINT|PRIMARY|NOT|NULL|UNIQUE|CHECK|DEFAULT|COLLATE|REFERENCES|GENERATED|AS)$/i;

interface Rebuilt {
  /** Whether the database is to make the values again. */
  isGenerated: boolean;
  /** Whether it is never to make one twice, not even after a DELETE. */
  isCounted: boolean;
}

/** SQLite changes the type of a column by building its table anew. */
async function rebuild(runner: QueryRunner, name: string, column: string, options: Rebuilt): Promise<void> {
  const rows = async (sql: string, values: string[] = []): Promise<Record<string, unknown>[]> =>
    (await runner.query(sql, values)) as Record<string, unknown>[];
  const [pragma] = await rows('PRAGMA foreign_keys');
  if (Number(pragma?.['foreign_keys']) !== 0) {
    // TypeORM turns it off before an up, and inside a transaction, where that is too late, before a down.
    throw new Error(
      'PRAGMA foreign_keys is ON: dropping the old table would delete what refers to it. ' +
        'Revert with: typeorm migration:revert --transaction none',
    );
  }
  const [found] = await rows("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", [name]);
  const columns = await rows('SELECT name, pk, hidden FROM pragma_table_xinfo(?)', [name]);
  const isPrimary = columns.some((each) => String(each['name']) === column && Number(each['pk']) > 0);
  const parts = await rows(
    "SELECT sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name = ?",
    [name],
  );
  const quoted = (each: string): string => \`"\${each.replace(/"/g, '""')}"\`;
  const definition = redefined(String(found?.['sql']), column, isPrimary, options);
  const copied = columns.filter(({ hidden }) => Number(hidden) === 0).map((each) => String(each['name']));
  const isNamed = copied.some((each) => each.toLowerCase() === 'rowid');
  const hasRowid = !isNamed && !/\\bWITHOUT\\s+ROWID\\b/i.test(definition.slice(definition.lastIndexOf(')')));
  const list = [...(hasRowid ? ['rowid'] : []), ...copied.map(quoted)].join(', ');
  const fresh = quoted(\`raindrop_\${name}\`);
  await runner.query(\`CREATE TABLE \${fresh} \${definition}\`);
  await runner.query(\`INSERT INTO \${fresh} (\${list}) SELECT \${list} FROM \${quoted(name)}\`);
  // Views, triggers and foreign keys elsewhere name the table, which is not there for a moment.
  await runner.query('PRAGMA legacy_alter_table = ON');
  try {
    await runner.query(\`DROP TABLE \${quoted(name)}\`);
    await runner.query(\`ALTER TABLE \${fresh} RENAME TO \${quoted(name)}\`);
    for (const { sql } of parts) await runner.query(String(sql));
  } finally {
    await runner.query('PRAGMA legacy_alter_table = OFF');
  }
}

/** What follows the name in CREATE TABLE, with another type for one column. */
function redefined(sql: string, column: string, isPrimary: boolean, { isGenerated, isCounted }: Rebuilt): string {
  const tokens: string[] = sql.match(TOKEN) ?? [];
  const begin = tokens.indexOf('(');
  const isBlank = (token: string): boolean => /^(?:\\s|--|\\/\\*)/.test(token);
  const parts: string[][] = [[]];
  let depth = 0;
  let end = begin;
  for (; end < tokens.length; end++) {
    const token = tokens[end]!;
    if (token === ')' && --depth === 0) break;
    if (token === ',' && depth === 1) parts.push([]);
    else if (end > begin) parts.at(-1)!.push(token);
    if (token === '(') depth++;
  }
  const tail = tokens.slice(end).join('');
  const isStrict = /\\bSTRICT\\b/i.test(tail);
  const part = parts.find((each) => nameIn(each.find((token) => !isBlank(token)) ?? '') === column.toLowerCase());
  if (part === undefined) throw new Error(\`\${column} is not among the columns of \${sql}\`);
  const at = part.findIndex((token) => !isBlank(token)) + 1;
  let nested = 0;
  let rest = at;
  for (; rest < part.length; rest++) {
    const token = part[rest]!;
    if (nested === 0 && AFTER_TYPE.test(token)) break;
    nested += token === '(' ? 1 : token === ')' ? -1 : 0;
  }
  let said = part.slice(rest).join('');
  // An INTEGER PRIMARY KEY is the row's own number, and need not be said to be there; INT is none.
  const type = isGenerated ? 'integer' : isStrict ? 'INT' : 'bigint';
  if (!isGenerated) said = part.slice(rest).filter((token) => !/^AUTOINCREMENT$/i.test(token)).join('');
  if (isGenerated && isCounted && !/\\bAUTOINCREMENT\\b/i.test(said)) {
    said = said.replace(/\\bPRIMARY\\s+KEY(?:\\s+(?:ASC|DESC))?(?:\\s+ON\\s+CONFLICT\\s+\\w+)?/i, '$& AUTOINCREMENT');
  }
  const present = isPrimary && !isGenerated && !/\\bNOT\\s+NULL\\b/i.test(said) ? ' NOT NULL' : '';
  part.splice(at, part.length, \` \${type}\${present}\${said.trim() === '' ? '' : ' '}\${said}\`);
  return \`(\${parts.map((each) => each.join('')).join(',')}\${tail}\`;
}

function nameIn(token: string): string {
  const quote = token.charAt(0);
  const name = quote === '[' ? token.slice(1, -1) : /["'\`]/.test(quote) ? token.slice(1, -1).split(quote + quote).join(quote) : token;
  return name.toLowerCase();
}
`;
