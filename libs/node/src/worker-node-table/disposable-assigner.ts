import { randomBytes } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import {
  type AssignedWorkerId,
  ConfigurationError,
  type WorkerIdAssigner,
  type WorkerIdRequest,
  type WorkerRange,
} from '@raindrop/core';
import { PermanentError, DAY_MS } from '@raindrop/core/internal';
import { DatabaseCallError } from '../database/database-errors.js';
import type { Statement, StatementResult } from '../database/dialect.js';
import { OwnDatabase, retried } from '../database/own-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { dialectOf } from '../database/supported-database.js';
import { parseTableName } from '../database/table-name.js';
import { createMissing, storageWarnings } from '../tables/prepare-table.js';
import type { Table } from '../tables/table-kind.js';
import { safeInteger } from '../database/sql-values.js';
import {
  countNodes,
  HOST_NAME_LENGTH,
  insertNode,
  selectAge,
  selectHighest,
  WORKER_NODE_TABLE,
  type WorkerNode,
} from './worker-node-table.js';

/** The inputs of a {@link DisposableAssigner}. */
export interface DisposableAssignerOptions {
  /** `table` or `schema.table`. */
  readonly tableName: string;
  /** Whether a missing table is created. */
  readonly autoCreateTable: boolean;
  /** The time limit of connecting, of each statement, of waiting for a busy SQLite and of closing, ms. */
  readonly opTimeoutMs: number;
  /** Part of the row's port. */
  readonly servicePort: number;
}

/** The rate of use is taken from so many starts. */
const STARTS_JUDGED = 10_000;

type Run = (statement: Statement) => Promise<StatementResult>;

/** How many ids were used in the last `ms` milliseconds. */
interface Consumption {
  readonly ids: number;
  readonly ms: number;
}

/**
 * Gives every start a new worker id, as uid-generator does: it inserts a row, and the worker id is the id of that row.
 * Rows stay, so no id comes twice, and no lease has to be renewed. When all ids are used up, starts are refused.
 *
 * It connects for each call and keeps no connection.
 */
export class DisposableAssigner implements WorkerIdAssigner {
  readonly name = 'disposable';
  readonly guarantee = 'fresh';
  private readonly table: Table;

  /**
   * @param database where the table is
   * @throws UnsupportedDatabaseError, InvalidTableNameError
   */
  constructor(
    private readonly database: SqlDatabase,
    private readonly options: DisposableAssignerOptions,
  ) {
    const { type, schema } = database;
    this.table = { kind: WORKER_NODE_TABLE, dialect: dialectOf(type), name: parseTableName(options.tableName, schema) };
  }

  /**
   * An insert without an answer is tried again; it may have used up an id.
   * @throws WorkerIdsUsedUpError; ConfigurationError when the table has not reached the range yet
   * @throws TableMissingError, NotOurTableError, DatabaseRefusedError, DatabaseCallError
   */
  async acquire({ workers, holder }: WorkerIdRequest): Promise<AssignedWorkerId> {
    const database = this.open();
    try {
      let assigned!: AssignedWorkerId;
      await retried(() =>
        database.call(async (statement) => {
          await createMissing(statement, this.table, this.options);
          const run: Run = ({ sql, values }) => statement(sql, values);
          const workerId = await this.insert(run, workers, holder);
          assigned = { workerId, warnings: await this.supplyWarnings(run, workerId, workers) };
        }),
      );
      // A check that fails must not end the start.
      const durability = await database.durabilityWarnings().catch(() => []);
      const storage = await database.call((run) => storageWarnings(run, this.table)).catch(() => []);
      return { ...assigned, warnings: [...assigned.warnings!, ...storage, ...durability] };
    } finally {
      await database.close();
    }
  }

  private open(): OwnDatabase {
    const { opTimeoutMs } = this.options;
    return new OwnDatabase(this.database, { opTimeoutMs, statementTimeoutMs: opTimeoutMs });
  }

  private async insert(run: Run, { min, max }: WorkerRange, holder: string): Promise<number> {
    const { table } = this;
    // When all ids are used up, a process that is restarted again and again must not fill the table.
    const highest = safeInteger((await run(selectHighest(table))).records[0]?.['id']) ?? 0;
    if (highest >= max) throw new WorkerIdsUsedUpError(table.name.name, max, highest);
    const node = await this.node(holder);
    const { records, insertId } = await run(insertNode(table, node));
    const id = safeInteger(table.dialect.hasReturning ? records[0]?.['id'] : insertId);
    await confirm(run, table, id, node);
    if (id! > max) throw new WorkerIdsUsedUpError(table.name.name, max, id!);
    if (id! < min) throw belowRange(table.name.name, id!, min);
    return id!;
  }

  private async node(holder: string): Promise<WorkerNode> {
    return {
      hostName: [...holder].slice(0, HOST_NAME_LENGTH).join(''),
      port: `${this.options.servicePort}-${randomBytes(16).toString('hex')}`,
      type: (await isContainer()) ? 1 : 2,
    };
  }

  private async supplyWarnings(run: Run, workerId: number, workers: WorkerRange): Promise<string[]> {
    if (!isScarce(workerId, workers)) return [];
    const { records } = await run(selectAge(this.table, Math.max(0, workerId - STARTS_JUDGED)));
    const [first, ms] = [safeInteger(records[0]?.['id']), safeInteger(records[0]?.['age_ms'])];
    return [supplyWarning(workerId, workers, { ids: workerId - (first ?? workerId), ms: ms ?? 0 })];
  }
}

/**
 * Checks that exactly one row has the id, and that it is the inserted one: a trigger or a proxy may answer with the id
 * of another row, and a table that was changed by hand may give an id again.
 */
async function confirm(run: Run, table: Table, id: number | undefined, { port }: WorkerNode): Promise<void> {
  if (id !== undefined) {
    const counted = (await run(countNodes(table, id, port))).records[0];
    if (Number(counted?.['nodes']) === 1 && Number(counted!['own']) === 1) return;
  }
  const reason = `the database returned no unique id for the row inserted into ${table.name.name}; does the table have a trigger?`;
  throw new DatabaseCallError(reason, '');
}

function belowRange(table: string, id: number, min: number): ConfigurationError {
  const message =
    `must be 1 with 'disposable', whose ids count up from 1: ${table} is at ${id}. Or start the table's own counter ` +
    `at ${min}`;
  return new ConfigurationError([{ option: 'serviceMinWorkId', given: String(min), message }]);
}

/** Whether less than 20 % of the range's ids are left after `workerId`: an operator should know. */
export function isScarce(workerId: number, { min, max }: WorkerRange): boolean {
  return max - workerId < 0.2 * (max - min + 1);
}

/** The warning for an operator then. */
export function supplyWarning(workerId: number, workers: WorkerRange, { ids, ms }: Consumption): string {
  const { min, max } = workers;
  const left = max - workerId;
  const percent = (100 * left) / (max - min + 1);
  const urgency = percent < 5 ? 'almost used up' : 'running out';
  const days = ids > 0 && ms > 0 ? ` (about ${Math.floor((left * ms) / ids / DAY_MS)} days at the present rate)` : '';
  return (
    `worker ids are ${urgency}: ${left} starts are left${days}, ${percent.toFixed(1)} % of all; then no process can ` +
    `start. Plan a layout with another endBitsValue or datacenterId and a new table, or use the database lease`
  );
}

/** Whether this process seems to run in a container. Only the column `type`, which is for people, depends on it. */
export async function isContainer(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined || env['container'] !== undefined) return true;
  const marks = await Promise.all(['/.dockerenv', '/run/.containerenv'].map(exists));
  if (marks.includes(true)) return true;
  const groups = await readFile('/proc/1/cgroup', 'utf8').catch(() => '');
  return /docker|kubepods|containerd|libpod|lxc/.test(groups);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Every worker id of the range has been used by a start, and `disposable` uses none twice. */
export class WorkerIdsUsedUpError extends PermanentError {
  static override readonly name = 'WorkerIdsUsedUpError';
  readonly errorCode = 'WORKER_IDS_USED_UP';

  constructor(
    readonly table: string,
    /** The highest worker id that may be used. */
    readonly maxWorkerId: number,
    /** The highest id in the table. */
    readonly reached: number,
  ) {
    super(
      `All worker ids up to ${maxWorkerId} are used up: ${table} is at ${reached}, and 'disposable' never reuses ` +
        `one. Raise serviceMaxWorkId if the layout has more; otherwise use a layout whose IDs differ from all old ` +
        `ones (another endBitsValue or datacenterId) with a new table, or the database lease, which reuses worker ` +
        `ids.`,
    );
  }
}

/** The last worker id that was given, for all {@link MemoryDisposableAssigner}s of this process. */
export interface MemoryNodes {
  last: number;
}

/** Counts worker ids in this process's memory, for databases in memory. */
export class MemoryDisposableAssigner implements WorkerIdAssigner {
  readonly name = 'disposable';
  readonly guarantee = 'fresh';

  constructor(private readonly nodes: MemoryNodes) {}

  /** @throws WorkerIdsUsedUpError */
  acquire({ workers: { min, max } }: WorkerIdRequest): Promise<AssignedWorkerId> {
    const { nodes } = this;
    if (nodes.last >= max) return Promise.reject(new WorkerIdsUsedUpError("this process's memory", max, nodes.last));
    nodes.last = Math.max(nodes.last + 1, min);
    return Promise.resolve({ workerId: nodes.last });
  }
}
