import { randomBytes } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import {
  type AssignedWorkerId,
  ConfigurationError,
  RaindropError,
  type WorkerIdAssigner,
  type WorkerIdRequest,
  type WorkerRange,
} from '@raindrop/core';
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

export interface DisposableAssignerOptions {
  /** `table` or `schema.table`. */
  readonly tableName: string;
  /** Whether a missing table is created. */
  readonly autoCreateTable: boolean;
  /** Limit for connecting, for each statement, for a busy SQLite and for closing, ms. */
  readonly opTimeoutMs: number;
  /** Part of the row's port. */
  readonly servicePort: number;
}

/** The rate of use is judged by so many starts. */
const STARTS_JUDGED = 10_000;

type Run = (statement: Statement) => Promise<StatementResult>;

/**
 * A new worker id for every start: the id of a row that is inserted for it, uid-generator's way. Rows stay, and no id
 * comes twice, so nothing needs to be renewed or remembered. Once all are used up, starts are refused.
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
   * A start whose outcome is unknown wastes an id and is tried again.
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
      // What cannot be found out must not stop the start.
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
    // A process that is started over and over when all are used up shall not fill the table.
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

/** A trigger, or a proxy on the way, may answer with another row's id, and a table that was changed give one again. */
async function confirm(run: Run, table: Table, id: number | undefined, { port }: WorkerNode): Promise<void> {
  if (id !== undefined) {
    const counted = (await run(countNodes(table, id, port))).records[0];
    if (Number(counted?.['nodes']) === 1 && Number(counted!['own']) === 1) return;
  }
  const reason = `the database told no id that the row inserted into ${table.name.name} has alone; has it a trigger?`;
  throw new DatabaseCallError(reason, '');
}

function belowRange(table: string, id: number, min: number): ConfigurationError {
  const message =
    `must be 1 with 'disposable', whose ids count up from 1: ${table} is at ${id}. Or let the table's own counter begin ` +
    `with ${min}`;
  return new ConfigurationError([{ option: 'serviceMinWorkId', given: String(min), message }]);
}

const DAY_MS = 86_400_000;

/** Ids used since some moment, and how long ago that was. */
interface Consumption {
  readonly ids: number;
  readonly ms: number;
}

/** Whether so few ids are left after `workerId` that somebody should know: less than 20 % of the range. */
export function isScarce(workerId: number, { min, max }: WorkerRange): boolean {
  return max - workerId < 0.2 * (max - min + 1);
}

/** What to say then. */
export function supplyWarning(workerId: number, workers: WorkerRange, { ids, ms }: Consumption): string {
  const { min, max } = workers;
  const left = max - workerId;
  const percent = (100 * left) / (max - min + 1);
  const urgency = percent < 5 ? 'almost used up' : 'running out';
  const days = ids > 0 && ms > 0 ? ` (about ${Math.floor((left * ms) / ids / DAY_MS)} days at the present rate)` : '';
  return (
    `worker ids are ${urgency}: ${left} starts are left${days}, ${percent.toFixed(1)} % of all; then no process starts any ` +
    `more. Plan a layout with another endBitsValue or datacenterId and a new table, or the database lease`
  );
}

/** Whether this process runs in a container, as far as that can be told; nothing but a column for people depends on it. */
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

/** Every worker id of the range has been used by some start; none is used twice. */
export class WorkerIdsUsedUpError extends RaindropError {
  readonly errorCode = 'WORKER_IDS_USED_UP';

  constructor(
    readonly table: string,
    /** The highest worker id that may be used. */
    readonly maxWorkerId: number,
    /** The highest id in the table. */
    readonly reached: number,
  ) {
    super(
      `All worker ids up to ${maxWorkerId} are used up: ${table} is at ${reached}, and 'disposable' uses none twice. Widen ` +
        `serviceMaxWorkId if the layout has more; otherwise take a layout whose IDs differ from all the old ones (another ` +
        `endBitsValue or datacenterId) with a new table, or the database lease, which gives ids back.`,
      { retryable: false },
    );
  }
}

/** What several {@link MemoryDisposableAssigner} share. */
export interface MemoryNodes {
  last: number;
}

/** The same in this process's memory, for databases that live there themselves. */
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
