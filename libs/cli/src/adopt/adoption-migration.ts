import { dialectOf } from '@raindrop/node/internal';
import { comment, literal, pascal, pascalOf, template } from './migration-text.js';
import type { MigrationStep, OldKey, OldKeys } from './old-key.js';
import type { Proposal } from './propose-layout.js';

/**
 * Writes the text of a TypeORM migration. It makes the keys, and the columns that refer to them, bigint, and the
 * database no longer makes keys. It checks once more that all old keys are smaller than every new ID.
 * @param timestamp the place of the migration among the others, Unix ms
 */
export function adoptionMigration(old: OldKeys, { options, floor }: Proposal, timestamp: number): string {
  const name = nameOf(old.keys, timestamp);
  const isRebuilt = !dialectOf(old.database).altersColumns;
  const remarks = [
    ...old.obstacles.map((each) => `Before it can run: ${each}.`),
    ...old.loose.map(
      (each) => `Left as it is, for no foreign key names it: ${each.table}.${each.column} (${each.type}).`,
    ),
  ];
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * From here on the keys of ${comment(old.keys.map(placeOf).join(', '))} come from Raindrop, and no longer from the
 * database. Stop every program that inserts without Raindrop before it runs. Its layout:
 * ${comment(JSON.stringify(options))}
${remarks.map((each) => ` * ${comment(each)}\n`).join('')} */
export class ${name} implements MigrationInterface {
  readonly name = '${name}';

  async up(runner: QueryRunner): Promise<void> {
${old.keys.map((key) => stillBelow(key, floor)).join('\n')}
${old.steps.up.length > 0 ? changed(old, old.steps.up) : NOTHING_TO_DO}
  }

  /** The columns stay bigint: the new IDs fit into nothing smaller. Stop Raindrop's services first. */
  async down(runner: QueryRunner): Promise<void> {
${old.steps.down.length > 0 ? changed(old, old.steps.down) : NOTHING_BACK}
  }
}
${old.steps.up.length > 0 ? listed('OBSTACLES', old.guards) + listed('CONTENTS', old.contents) + COMPARED + restored(old.steps.again) : ''}${isRebuilt ? REBUILD : ''}`;
}

const NOTHING_TO_DO = '    // All columns are bigint already, and the database makes no keys.';

/** The steps of a change, after which the tables must have everything that they had before. */
function changed({ steps: { again } }: OldKeys, steps: readonly MigrationStep[]): string {
  const lines = linesOf(steps);
  const work =
    again.length === 0
      ? lines
      : `    try {
${lines.replaceAll(/^/gm, '  ')}
    } catch (error) {
      await restore(runner, before, error as Error);
    }`;
  return `    const before = await contents(runner);
${work}
    compare(before, await asked(runner, CONTENTS));`;
}

function restored(again: readonly string[]): string {
  return again.length === 0 ? '' : listed('AGAIN', again) + RESTORED;
}

function listed(name: string, statements: readonly string[]): string {
  return `\nconst ${name}: string[] = [\n${statements.map((sql) => `  ${template(sql)},\n`).join('')}];\n`;
}

const NOTHING_BACK = `    // The database made no keys before.
    await Promise.resolve(runner);`;

function nameOf(keys: readonly OldKey[], timestamp: number): string {
  const [first, ...others] = keys;
  const tables = pascalOf(keys.map(({ table }) => table));
  return `Adopt${tables}${others.length === 0 ? pascal(first!.column) : ''}${timestamp}`;
}

function placeOf({ table, column }: OldKey): string {
  return `${table}.${column}`;
}

function stillBelow(key: OldKey, floor: bigint): string {
  const message = `${placeOf(key)} has keys of ${floor} and above by now: run raindrop adopt again`;
  return `    {
      // The new IDs begin here: the old keys must still be smaller.
      const sql = ${template(key.highestSql)};
      const [row] = (await runner.query(sql)) as { highest: string | null }[];
      if (BigInt(row?.highest ?? 0) >= ${floor}n) {
        throw new Error(${literal(message)});
      }
    }`;
}

function linesOf(steps: readonly MigrationStep[]): string {
  const lines = steps.map((step) =>
    'sql' in step
      ? `    await runner.query(${template(step.sql)});`
      : `    await rebuild(runner, ${literal(step.table)}, ${literal(step.column)}, { isGenerated: ${step.isGenerated}, isCounted: ${step.isCounted} });`,
  );
  return lines.join('\n');
}

/** Functions in the text of a migration: they find the obstacles at that moment, and what its tables have. */
const COMPARED = `
async function asked(runner: QueryRunner, statements: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const sql of statements) {
    const rows = (await runner.query(sql)) as { what: string }[];
    found.push(...rows.map(({ what }) => String(what)));
  }
  return found;
}

/** Foreign keys, checks, indexes, triggers, columns, and how many rows. */
async function contents(runner: QueryRunner): Promise<string[]> {
  for (const sql of OBSTACLES) {
    const obstacles = await asked(runner, [sql]);
    if (obstacles.length > 0) throw new Error(\`nothing was changed: \${obstacles.join('; ')}\`);
  }
  return asked(runner, CONTENTS);
}

function compare(before: string[], after: string[]): void {
  const lost = [...new Set(before)].filter((each) => !after.includes(each));
  if (lost.length > 0) throw new Error(\`after the change these are not as they were: \${lost.join('; ')}\`);
}
`;

/** A function in the text of a migration for databases that do not roll back table changes after an error. */
const RESTORED = `
/** Creates again what was dropped, where that is possible. @throws the error, with what is still missing */
async function restore(runner: QueryRunner, before: string[], { message }: Error): Promise<never> {
  for (const sql of AGAIN) await (runner.query(sql) as Promise<unknown>).catch(() => undefined);
  const after = await asked(runner, CONTENTS);
  const lost = [...new Set(before)].filter((each) => !after.includes(each));
  if (lost.length === 0) throw new Error(\`\${message}; all that was dropped is there again\`);
  const cure = AGAIN.join('; ');
  throw new Error(\`\${message}; these are not as they were: \${lost.join('; ')}. The foreign keys are made again by: \${cure}\`);
}
`;

/**
 * Functions in the text of a migration for SQLite: they rebuild a table by its own CREATE TABLE, with one type changed.
 */
const REBUILD = `
/** Texts, names in quotes and comments are one token each. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\`(?:[^\`]|\`\`)*\`|\\[[^\\]]*\\]|--[^\\n]*|\\/\\*.*?\\*\\/|\\w+|\\s+|./gsu;

/** These words follow the type of a column. */
const AFTER_TYPE = /^(?:CONSTRAINT|PRIMARY|NOT|NULL|UNIQUE|CHECK|DEFAULT|COLLATE|REFERENCES|GENERATED|AS)$/i;

interface Rebuilt {
  /** Whether the database makes the values afterwards. */
  isGenerated: boolean;
  /** Whether it then makes no value twice, not even after a DELETE (AUTOINCREMENT). */
  isCounted: boolean;
}

/** Changes the type of a column: SQLite needs the whole table rebuilt for that. */
async function rebuild(runner: QueryRunner, name: string, column: string, options: Rebuilt): Promise<void> {
  const rows = async (sql: string, values: string[] = []): Promise<Record<string, unknown>[]> =>
    (await runner.query(sql, values)) as Record<string, unknown>[];
  const [pragma] = await rows('PRAGMA foreign_keys');
  if (Number(pragma?.['foreign_keys']) !== 0) {
    // TypeORM turns it off before an up. Before a down it does so inside a transaction, where SQLite ignores it.
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
  // Views, triggers and foreign keys of other tables name this table, which does not exist for a moment.
  await runner.query('PRAGMA legacy_alter_table = ON');
  try {
    await runner.query(\`DROP TABLE \${quoted(name)}\`);
    await runner.query(\`ALTER TABLE \${fresh} RENAME TO \${quoted(name)}\`);
    for (const { sql } of parts) await runner.query(String(sql));
  } finally {
    await runner.query('PRAGMA legacy_alter_table = OFF');
  }
}

/** The part of CREATE TABLE after the name, with another type for one column. */
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
  // An INTEGER PRIMARY KEY is the row's own number, and is never NULL. An INT PRIMARY KEY is a column like others.
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
