import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { DataSourceOptions } from 'typeorm';
import { SETUP_VARIABLE, type FamilyCommand, type FamilyReport, type FamilySetup } from './family-messages.js';

export const HOOK = resolve(__dirname, '../typescript-hook.cjs');
const PATIENCE_MS = 40_000;

/** One worker id, with a lease so short that a test can wait for its end. */
export const ONE_ROW: SnowflakeModuleOptions = {
  ...{ timeUnit: 'millisecond', startTimeStamp: '2026-01-01', timeStampLength: 41, workIdLength: 3, endBitsLength: 1 },
  ...{ serviceMinWorkId: 1, serviceMaxWorkId: 1, minLifetimeDays: 1, waitForWorkerMs: 20_000 },
  ...{ heartbeatIntervalMs: 400, opTimeoutMs: 500, leaseMs: 2_000, horizonMs: 3_000, maxClockSkewMs: 500 },
};

type ReportOf<Kind> = Extract<FamilyReport, { kind: Kind }>;

/** A primary and its workers, with everything they have reported and every ID they have issued. */
export class Family {
  readonly reports: FamilyReport[] = [];
  readonly directory = mkdtempSync(join(tmpdir(), 'raindrop-family-'));
  readonly primary: ChildProcess;
  private isEnded = false;

  constructor(database: DataSourceOptions, workerScript = 'family-worker.ts') {
    const setup: FamilySetup = { database, options: ONE_ROW, directory: this.directory, workerScript };
    this.primary = fork(resolve(__dirname, 'family-primary.ts'), {
      execArgv: ['--require', HOOK],
      env: { ...process.env, [SETUP_VARIABLE]: JSON.stringify(setup) },
    });
    this.primary.on('message', (report: FamilyReport) => this.reports.push(report));
    this.primary.once('exit', () => (this.isEnded = true));
  }

  tell(command: FamilyCommand): void {
    this.primary.send(command);
  }

  /** Has so many more workers forked; settles when they can issue. */
  async grow(count: number): Promise<ReportOf<'ready'>[]> {
    const before = this.of('ready').length;
    this.tell({ do: 'fork', count });
    await this.until(() => this.of('ready').length >= before + count);
    return this.of('ready').slice(before);
  }

  /** Has all workers carry out a command that ends; settles when so many have. */
  async all(command: FamilyCommand, workers: number): Promise<ReportOf<'done'>[]> {
    const before = this.of('done').length;
    this.tell(command);
    await this.until(() => this.of('done').length >= before + workers);
    return this.of('done').slice(before);
  }

  /** The IDs that each process has issued, in their order. */
  issued(): bigint[][] {
    return readdirSync(this.directory).map((file) => {
      const { buffer, byteOffset, byteLength } = Uint8Array.from(readFileSync(join(this.directory, file)));
      return Array.from(new BigInt64Array(buffer, byteOffset, Math.floor(byteLength / 8)));
    });
  }

  of<Kind extends FamilyReport['kind']>(kind: Kind): ReportOf<Kind>[] {
    return this.reports.filter((report): report is ReportOf<Kind> & FamilyReport => report.kind === kind);
  }

  /** @throws Error when a process failed, or nothing of the kind happened in time */
  async until(condition: () => boolean): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!condition()) {
      const [failure] = this.of('failed');
      if (failure !== undefined) throw new Error(`${failure.pid} failed: ${failure.message}`);
      if (Date.now() > giveUpAt)
        throw new Error(`nothing came of it; reports: ${JSON.stringify(this.reports.slice(-20))}`);
      await new Promise((settle) => setTimeout(settle, 10));
    }
  }

  /** Ends all of them and removes their files. Workers end when the channel to their primary does. */
  async end(): Promise<void> {
    this.primary.kill('SIGCONT');
    this.primary.kill('SIGKILL');
    await this.until(() => this.isEnded);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
