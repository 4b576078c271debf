import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { DataSourceOptions } from 'typeorm';
import { countIds, readIds } from '../../support/processes/id-file.js';
import { forkScript, kill } from '../../support/processes/forked.js';
import { until } from '../../support/until.js';
import { SETUP_VARIABLE, type FamilyCommand, type FamilyReport, type FamilySetup } from './family-messages.js';

/** For 64 processes that start at once on a busy machine. */
const DEADLINE = { withinMs: 150_000 };

/** One worker id. */
export const ONE_ROW: SnowflakeModuleOptions = {
  ...{ timeUnit: 'millisecond', startTimeStamp: '2026-01-01', timeStampLength: 41, workIdLength: 3, endBitsLength: 1 },
  ...{ serviceMinWorkId: 1, serviceMaxWorkId: 1, minLifetimeDays: 1, waitForWorkerMs: 60_000 },
};

/** So short that a test can wait for its end. */
export const SHORT_LEASE: SnowflakeModuleOptions = {
  ...{ heartbeatIntervalMs: 400, opTimeoutMs: 1_500, leaseMs: 3_000, horizonMs: 4_000, maxClockSkewMs: 500 },
};

/** What workers and their service have of their own in a test. */
export interface FamilyChoice {
  readonly workerScript?: string;
  readonly lease?: SnowflakeModuleOptions;
  readonly patienceMs?: FamilySetup['patienceMs'];
}

type ReportOf<Kind> = Extract<FamilyReport, { kind: Kind }>;

/** A primary and its workers, with everything they have reported and every ID they have issued. */
export class Family {
  readonly reports: FamilyReport[] = [];
  readonly directory = mkdtempSync(join(tmpdir(), 'raindrop-family-'));
  readonly primary: ChildProcess;

  constructor(database: DataSourceOptions, choice: FamilyChoice = {}) {
    const { workerScript = 'family-worker.ts', lease, patienceMs = { answer: 30_000, ids: 60_000 } } = choice;
    const { directory } = this;
    const setup: FamilySetup = { database, options: { ...ONE_ROW, ...lease }, directory, workerScript, patienceMs };
    this.primary = forkScript(resolve(__dirname, 'family-primary.ts'), {
      environment: { [SETUP_VARIABLE]: JSON.stringify(setup) },
    });
    this.primary.on('message', (report: FamilyReport) => this.reports.push(report));
  }

  tell(command: FamilyCommand): void {
    this.primary.send(command);
  }

  /** Has so many more workers forked; settles when they can issue. */
  async grow(count: number): Promise<ReportOf<'ready'>[]> {
    const before = this.of('ready').length;
    this.tell({ do: 'fork', count });
    await this.until('workers to be ready', () => this.of('ready').length >= before + count);
    return this.of('ready').slice(before);
  }

  /** Has all workers carry out a command that ends; settles when so many have. */
  async all(command: FamilyCommand, workers: number): Promise<ReportOf<'done'>[]> {
    const before = this.of('done').length;
    this.tell(command);
    await this.until('workers to be done', () => this.of('done').length >= before + workers);
    return this.of('done').slice(before);
  }

  /** Waits until so many more IDs were issued, by all of them together. */
  async moreIssued(ids: number): Promise<void> {
    const count = (): number => this.files().reduce((sum, file) => sum + countIds(file), 0);
    const wanted = count() + ids;
    await this.until(`${ids} more IDs`, () => count() >= wanted);
  }

  /** The IDs that each process has issued, in their order. */
  issued(): bigint[][] {
    return this.files().map((file) => [...readIds(file)]);
  }

  private files(): string[] {
    return readdirSync(this.directory).map((name) => join(this.directory, name));
  }

  of<Kind extends FamilyReport['kind']>(kind: Kind): ReportOf<Kind>[] {
    return this.reports.filter((report): report is ReportOf<Kind> & FamilyReport => report.kind === kind);
  }

  /** @throws Error when a process failed, or nothing of the kind happened in time */
  async until(what: string, condition: () => boolean): Promise<void> {
    const failures = (): ReportOf<'failed'>[] => this.of('failed');
    await until(what, () => condition() || failures().length > 0, DEADLINE).catch((error: unknown) => {
      throw new Error(`the last reports: ${JSON.stringify(this.reports.slice(-20))}`, { cause: error });
    });
    for (const { pid, message } of failures()) throw new Error(`${pid} failed: ${message}`);
  }

  /** Ends all of them and removes their files. Workers end when the channel to their primary does. */
  async end(): Promise<void> {
    await kill(this.primary);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
