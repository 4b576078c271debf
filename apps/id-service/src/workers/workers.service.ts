import { Inject, Injectable } from '@nestjs/common';
import {
  type IssuerView,
  type Layout,
  NoWorkerHistoryError,
  readIssuer,
  readWorkers,
  type SnowflakeModuleOptions,
  type WorkersView,
} from '@raindrop/nestjs';
import { dataSourceDatabase } from '@raindrop/nestjs/typeorm';
import { DataSource } from 'typeorm';
import { SERVICE_CONFIG, type ServiceConfig } from '../service-config.js';

/** So long the last look at the table is good enough: however many look, the database is asked once. */
const FRESH_MS = 500;

type WorkerConfig = Pick<ServiceConfig, 'layout' | 'workers' | 'leaseMs' | 'workerHistoryDays'>;

/** The holders of all worker ids, from the table. */
@Injectable()
export class WorkersService {
  private last: { readonly at: number; readonly view: Promise<WorkersView> } | undefined;

  constructor(
    @Inject(SERVICE_CONFIG) private readonly config: WorkerConfig,
    private readonly dataSource: DataSource,
  ) {}

  /** @throws DatabaseCallError */
  read(): Promise<WorkersView> {
    const now = performance.now();
    if (this.last !== undefined && now - this.last.at < FRESH_MS) return this.last.view;
    const view = readWorkers(snowflakeOptions(this.config), dataSourceDatabase(this.dataSource.options));
    this.last = { at: now, view };
    return view;
  }

  /** The process that holds it, or the function of the database; null for neither. @throws DatabaseCallError */
  async holderOf(workerId: number): Promise<string | null> {
    const { workers } = await this.read();
    const row = workers.find((each) => each.workerId === workerId);
    return row?.state === 'held' || row?.state === 'database' ? row.holder : null;
  }

  /** The process that issued an ID of the service; undefined where no history is kept. @throws DatabaseCallError */
  async originOf(id: bigint, layout: Layout): Promise<Pick<IssuerView, 'finding' | 'issuer'> | undefined> {
    if (this.config.workerHistoryDays === 0) return undefined;
    const options = snowflakeOptions({ ...this.config, layout: { layout } });
    try {
      return await readIssuer(id, options, dataSourceDatabase(this.dataSource.options));
    } catch (error) {
      if (error instanceof NoWorkerHistoryError) return { finding: 'before-history', issuer: null };
      throw error;
    }
  }
}

/** As in the defaults: 10 s of 60. */
const HEARTBEATS_IN_A_LEASE = 6;

/** The options of the ID service. Lease and heartbeat keep the proportion of the library's own. */
export function snowflakeOptions({
  layout,
  workers,
  leaseMs,
  workerHistoryDays: keepDays,
}: WorkerConfig): SnowflakeModuleOptions {
  return {
    ...(keepDays > 0 && { workerHistory: { keepDays } }),
    ...layout,
    serviceMinWorkId: workers.min,
    serviceMaxWorkId: workers.max,
    leaseMs,
    heartbeatIntervalMs: Math.min(Math.floor(leaseMs / HEARTBEATS_IN_A_LEASE), 600_000),
  };
}
