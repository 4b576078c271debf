/** What a migration brings along that goes through phases. */
export const PHASES = `
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
  // One connection: what is set holds for it alone.
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

/** Somebody else had the lock. */
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
