import {
  ConfigurationError,
  type AssignedWorkerId,
  type WorkerIdAssigner,
  type WorkerIdRequest,
  type WorkerRange,
} from '@raindrop/core';
import { randomBytes } from 'node:crypto';
import { DatabaseCallError } from '../database/database-call-error.js';
import type { StatementResult } from '../database/run-sql.js';
import type { Statement } from '../database/dialect.js';
import { OwnDatabase } from '../database/own-database.js';
import { retried } from '../database/retried.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { dialectOf } from '../database/supported-database.js';
import { parseTableName } from '../database/table-name.js';
import { storageWarnings } from '../tables/find-missing.js';
import { createMissing } from '../tables/prepare-table.js';
import type { Table } from '../tables/table-kind.js';
import { safeInteger } from '../database/safe-integer.js';
import { isContainer } from './is-container.js';
import { isScarce, supplyWarning } from './supply-warning.js';
import { countNodes, insertNode, selectAge, selectHighest, type WorkerNode } from './worker-node-statements.js';
import { WorkerIdsUsedUpError } from './worker-ids-used-up-error.js';
import { HOST_NAME_LENGTH, WORKER_NODE_TABLE } from './worker-node-table.js';

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
