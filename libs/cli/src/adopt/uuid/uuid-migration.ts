import { comment, literal, pascalOf, template } from '../migration-text.js';
import { keptName, type Phase, type UuidKeys, type UuidPhases } from './uuid-key.js';

/** The text of a migration, and the end of its file's name. */
interface MigrationFile {
  readonly suffix: '' | '-swap';
  readonly text: string;
}

/**
 * Writes the texts of two TypeORM migrations for all tables. The first numbers the rows while the application goes on
 * writing. The second gives the columns of numbers the names of the keys.
 * @param options those of the layout of the new IDs
 * @param timestamp the place of the first migration among the others, Unix ms
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

/** Functions in the text of a migration: they run the phases. */
const PHASES = `
interface Phase {
  name: string;
  unless?: string;
  none?: string;
  says?: string;
  last?: string;
  each?: string;
  first?: number;
  size?: number;
  run?: string[];
}

/** Does what has not been done yet. It may end anywhere, and be begun again. */
async function work(runner: QueryRunner, phases: Phase[], begin: string[], end: string[]): Promise<void> {
  if (runner.isTransactionActive) {
    throw new Error('each batch is a transaction of its own: run it with typeorm migration:run --transaction none');
  }
  // The settings hold for one connection: all phases must use it.
  await runner.connect();
  try {
    for (const sql of begin) await runner.query(sql);
    for (const phase of phases) {
      const begun = Date.now();
      await again(() => step(runner, phase));
      console.log(\`\${phase.name}: \${Date.now() - begun} ms\`);
    }
  } finally {
    for (const sql of end) await runner.query(sql);
  }
}

async function step(runner: QueryRunner, { unless, none, says, last, each, first = 0, size = 1, run = [] }: Phase): Promise<void> {
  const rows = async (sql: string): Promise<Record<string, unknown>[]> => (await runner.query(sql)) as Record<string, unknown>[];
  if (unless !== undefined && (await rows(unless)).length > 0) return;
  if (none !== undefined && (await rows(none)).length > 0) throw new Error(says);
  if (last !== undefined && each !== undefined) {
    const [found] = await rows(last);
    for (let from = first; from <= Number(found?.['last'] ?? 0); from += size) {
      const batch = each.replaceAll('{from}', String(from)).replaceAll('{to}', String(from + size));
      await again(() => runner.query(batch) as Promise<unknown>);
    }
  }
  for (const sql of run) await runner.query(sql);
}

/** Another session had the lock. */
const BUSY = ['40001', '40P01', '55P03', 'ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD'];

async function again(work: () => Promise<unknown>, tries = 20): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code } = error as { code?: string };
    if (tries <= 1 || !BUSY.includes(String(code))) throw error;
    await again(work, tries - 1);
  }
}
`;
