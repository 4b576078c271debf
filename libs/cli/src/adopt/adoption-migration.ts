import { comment, literal, pascal, pascalOf, template } from './migration-text.js';
import type { MigrationStep, OldKey, OldKeys } from './old-key.js';
import type { Proposal } from './propose-layout.js';
import { COMPARED, RESTORED } from './compared-text.js';
import { REBUILD } from './rebuild-text.js';

/**
 * The text of a TypeORM migration that makes the keys and what refers to them bigint, and ends the database's own keys.
 * It looks once more whether the old keys are still smaller than every new ID.
 * @param timestamp its place among the others, Unix ms
 */
export function adoptionMigration(old: OldKeys, { options, floor }: Proposal, timestamp: number): string {
  const name = nameOf(old.keys, timestamp);
  const isRebuilt = old.database === 'better-sqlite3';
  const remarks = [
    ...old.obstacles.map((each) => `Before it can run: ${each}.`),
    ...old.loose.map(
      (each) => `Left as it is, for no foreign key names it: ${each.table}.${each.column} (${each.type}).`,
    ),
  ];
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * From here on the keys of ${comment(old.keys.map(placeOf).join(', '))} come from Raindrop, and no longer from the database. Stop every program that
 * inserts without Raindrop before it runs. Its layout:
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

/** A change after which the tables have to have all that they had before. */
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
      // Raindrop's IDs begin here; the old keys must still be below.
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
