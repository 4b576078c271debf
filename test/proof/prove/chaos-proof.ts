import type { ChaosReport } from '../chaos/chaos-report.js';
import type { SegmentReport } from '../chaos/segments/segment-report.js';
import { atLeast, none, type Proof, type ProofRow } from './proof.js';
import { runScript, type ScriptResult } from './run-script.js';

type Run = ScriptResult<ChaosReport>;
type SegmentRun = ScriptResult<SegmentReport>;

const DATABASES = ['mariadb', 'postgres', 'sqlite'] as const;
/**
 * The last release before the tables had a state beside them. A later change of a table is proven beside the release
 * before it, in its place.
 */
const RELEASE_BEFORE = '3c1b476';
const STORES = [...DATABASES, 'redis'] as const;

/**
 * Real processes under every fault, on all three databases and Redis; then the original's protocol under the same; then the same
 * for segments. In one run of each every second process is of the release before.
 */
export const chaosProof: Proof = {
  name: 'chaos',
  async run(seed) {
    const runs: Run[] = [];
    for (const db of STORES) runs.push(await chaos(['--db', db, '--seconds', '285', '--seed', String(seed)]));
    runs.push(await chaos(['--db', 'postgres', '--seconds', '60', '--seed', String(seed), '--beside', RELEASE_BEFORE]));
    const control = await chaos(['--db', 'mariadb', '--seconds', '30', '--seed', String(seed), '--control']);
    const segments: SegmentRun[] = [];
    for (const db of DATABASES) segments.push(await chaosOfSegments(db, seed));
    segments.push(await chaosOfSegments('mariadb', seed, '--beside', RELEASE_BEFORE));
    const brokenSegments = await chaosOfSegments('mariadb', seed, '--control');
    const workerRows = [...runs.map(rowOf), ...totals(runs), rowOf(control)];
    return [...workerRows, ...segments.map(segmentRow), brokenRow(brokenSegments)];
  },
};

function chaos(args: readonly string[]): Promise<Run> {
  return runScript<ChaosReport>('chaos', 'test/proof/chaos/command/chaos.ts', ['--only', 'workers', ...args]);
}

function chaosOfSegments(db: string, seed: number, ...more: readonly string[]): Promise<SegmentRun> {
  const args = ['--only', 'segments', '--db', db, '--segment-seconds', '60', '--seed', String(seed), ...more];
  return runScript<SegmentReport>('chaos', 'test/proof/chaos/command/chaos.ts', args);
}

function segmentRow({ answer, command, exitCode }: SegmentRun): ProofRow {
  const { db, beside, numbers, duplicates, lost, unexplained, failures } = answer;
  const count = (value: number): string => value.toLocaleString('en-US');
  const found = `${count(duplicates)} of ${count(numbers)} twice; ${count(lost)} lost, ${count(unexplained)} without a reason`;
  return {
    what: `segments on ${db}${besideWhat(beside)}`,
    target: 'no number twice, none lost without a reason',
    measured: [found, ...failures].join('; '),
    ok: exitCode === 0,
    command,
  };
}

function brokenRow({ answer, command, exitCode }: SegmentRun): ProofRow {
  const found = Object.entries(answer.found).map(([fault, count]) => `${fault}: ${count.toLocaleString('en-US')}`);
  return {
    what: `segments on ${answer.db} without four safeguards (control)`,
    target: 'found, each of them',
    measured: [found.join(', '), ...answer.failures].join('; '),
    ok: exitCode === 0,
    command,
  };
}

function besideWhat(beside: string | undefined): string {
  return beside === undefined ? '' : `, with the release before (${beside})`;
}

function rowOf({ answer, command, exitCode }: Run): ProofRow {
  const { control, beside, db, ids, duplicates, failures } = answer;
  const what = control ? `the original's protocol on ${db} (control)` : `chaos on ${db}${besideWhat(beside)}`;
  const found = `${duplicates.toLocaleString('en-US')} of ${ids.toLocaleString('en-US')} IDs twice`;
  const measured = [found, ...failures].join('; ');
  return { what, target: control ? 'some IDs twice' : 'no ID twice', measured, ok: exitCode === 0, command };
}

function totals(runs: readonly Run[]): ProofRow[] {
  const fired = (kind: string): number => runs.reduce((sum, { answer }) => sum + (answer.fired[kind] ?? 0), 0);
  const sum = (of: (report: ChaosReport) => number): number => runs.reduce((all, { answer }) => all + of(answer), 0);
  const all = 'npm run prove -- --only chaos';
  return [
    none(
      'IDs twice, all three databases',
      sum(({ duplicates }) => duplicates),
      all,
    ),
    atLeast(
      'IDs compared',
      sum(({ ids }) => ids),
      100_000_000,
      all,
    ),
    atLeast('kill -9 of a process', fired('kill'), 150, all),
    atLeast('pauses (SIGSTOP)', fired('pause'), 100, all),
    atLeast('of these longer than the lease', fired('longPause'), 50, all),
    atLeast('kill -9 of a database', fired('databaseKill'), 10, all),
    atLeast('commits without an answer, or after the client gave up', fired('unanswered') + fired('ghost'), 100, all),
    atLeast('clock steps', fired('clockStep'), 300, all),
  ];
}
