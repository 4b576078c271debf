import type { OldKey, MigrationStep } from './old-key.js';
import type { Proposal } from './propose-layout.js';
import { REBUILD } from './rebuild-text.js';

/**
 * The text of a TypeORM migration that makes the key and what refers to it bigint, and ends the database's own keys.
 * It looks once more whether the old keys are still smaller than every new ID.
 * @param timestamp its place among the others, Unix ms
 */
export function adoptionMigration(key: OldKey, { options, floor }: Proposal, timestamp: number): string {
  const name = `Adopt${pascal(key.table)}${pascal(key.column)}${timestamp}`;
  const place = `${key.table}.${key.column}`;
  const isRebuilt = key.database === 'better-sqlite3';
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * From here on the keys of ${comment(place)} come from Raindrop, and no longer from the database. Stop every program that
 * inserts without Raindrop before it runs. Its layout:
 * ${comment(JSON.stringify(options))}
${key.obstacles.map((each) => ` * ${comment(`Before it can run: ${each}.`)}\n`).join('')} */
export class ${name} implements MigrationInterface {
  readonly name = '${name}';

  async up(runner: QueryRunner): Promise<void> {
    // Raindrop's IDs begin here; the old keys must still be below.
    const sql = ${template(key.highestSql)};
    const [row] = (await runner.query(sql)) as { highest: string | null }[];
    if (BigInt(row?.highest ?? 0) >= ${floor}n) {
      throw new Error(${literal(`${place} has keys of ${floor} and above by now: run raindrop adopt again`)});
    }
${linesOf(key.steps.up)}
  }

  /** The columns stay bigint: the new IDs fit into nothing smaller. Stop Raindrop's services first. */
  async down(runner: QueryRunner): Promise<void> {
${key.steps.down.length > 0 ? linesOf(key.steps.down) : NOTHING_BACK}
  }
}
${isRebuilt ? REBUILD : ''}`;
}

const NOTHING_BACK = `    // The database made no keys before.
    await Promise.resolve(runner);`;

function linesOf(steps: readonly MigrationStep[]): string {
  const lines = steps.map((step) =>
    'sql' in step
      ? `    await runner.query(${template(step.sql)});`
      : `    await rebuild(runner, ${literal(step.table)}, ${literal(step.column)}, ${step.isGenerated});`,
  );
  return lines.length > 0 ? lines.join('\n') : '    // All columns are bigint already, and the database makes no keys.';
}

/** In backticks, whatever quotes are in it. */
function template(sql: string): string {
  return `\`${sql.replace(/[\\`]|\$\{/g, '\\$&')}\``;
}

function literal(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}

/** A name must not end the comment that it stands in. */
function comment(text: string): string {
  return text.replaceAll('*/', '* /').replace(/\s+/g, ' ');
}

function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
