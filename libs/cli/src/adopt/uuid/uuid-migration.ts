import { comment, literal, pascalOf, template } from '../migration-text.js';
import { PHASES } from './phases-text.js';
import { keptName, type Phase, type UuidKeys, type UuidPhases } from './uuid-key.js';

/** A migration, and the end of its file's name. */
export interface MigrationFile {
  readonly suffix: '' | '-swap';
  readonly text: string;
}

/**
 * The texts of two TypeORM migrations for all tables: the first numbers the rows while the application goes on writing,
 * the second gives the numbers the keys' names.
 * @param options of the layout that is to issue the IDs to come
 * @param timestamp of the first, Unix ms
 */
export function uuidMigrations(
  { keys }: UuidKeys,
  phases: UuidPhases,
  options: object,
  timestamp: number,
): MigrationFile[] {
  const tables = pascalOf(keys.map(({ key }) => key.table));
  const places = comment(keys.map(({ key }) => `${key.table}.${key.column}`).join(', '));
  const kept = comment([...new Set(keys.map(({ key }) => keptName(key)))].join(', '));
  const file = (name: string, about: string, up: readonly Phase[], down: readonly Phase[]): string =>
    `import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
${about}
 * Run it with --transaction none: each batch is a transaction of its own. It may end anywhere, and be run again.
 */
export class ${name} implements MigrationInterface {
  readonly name = '${name}';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await work(runner, UP, BEGIN, END);
  }

  async down(runner: QueryRunner): Promise<void> {
    await work(runner, DOWN, BEGIN, END);
  }
}

const BEGIN = [${phases.begin.map(template).join(', ')}];
const END = [${phases.end.map(template).join(', ')}];

const UP: Phase[] = [
${up.map(phaseText).join('\n')}
];

const DOWN: Phase[] = [
${down.map(phaseText).join('\n')}
];
${PHASES}`;
  return [
    {
      suffix: '',
      text: file(
        `Number${tables}${timestamp}`,
        ` * Numbers the rows of ${places} in the order of their creation, and all that refers to them, in columns of their own.\n` +
          ' * The application may go on writing: triggers number what comes meanwhile.',
        phases.number,
        phases.forget,
      ),
    },
    {
      suffix: '-swap',
      text: file(
        `Swap${tables}${timestamp + 1}`,
        ` * Gives the numbers the name of ${places}; the UUIDs stay in ${kept}. Stop the application before, and start\n` +
          ` * the new version after: the old one does not know bigint keys. Its layout:\n * ${comment(JSON.stringify(options))}`,
        phases.swap,
        phases.back,
      ),
    },
  ];
}

function phaseText(phase: Phase): string {
  const lines = Object.entries<unknown>({ ...phase }).map(([name, value]) => {
    if (name === 'size' || name === 'first') return `${name}: ${String(value)}`;
    if (name === 'name' || name === 'says') return `${name}: ${literal(String(value))}`;
    if (name === 'run')
      return `run: [\n${(value as string[]).map((sql) => `      ${template(sql)},`).join('\n')}\n    ]`;
    return `${name}: ${template(String(value))}`;
  });
  return `  {\n${lines.map((line) => `    ${line},`).join('\n')}\n  },`;
}
