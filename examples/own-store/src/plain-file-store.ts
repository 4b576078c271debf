import { fencedTable, LeaseWatch, sampleRows, unusedRow, writtenRow } from '@raindrop/nestjs';
import type { FenceRequest, SampleRequest, WorkerRange, WorkerRow, WorkerSample } from '@raindrop/nestjs';
import type { ReservingAssigner, WorkerStore, WorkerTable, WorkerWrite } from '@raindrop/nestjs';
import { NumberedFiles } from './numbered-files.js';

/** Leases worker ids from files in a folder, on any disk that all hosts see alike. */
export const fileWorkers = (folder: string): ReservingAssigner => ({
  name: 'files',
  openStore: ({ lease }) => new PlainFileStore(folder, lease.opTimeoutMs),
  defaultWaitMs: ({ leaseMs, graceMs }) => leaseMs + graceMs + 10_000,
});

type Bar = Pick<WorkerTable, 'barredUntilMs' | 'servedAlone'>;

/** Worker rows in plain files, which have no clock of their own. */
export class PlainFileStore implements WorkerStore {
  private readonly files: NumberedFiles<Bar & { rows: WorkerRow[]; layouts: string[] }>;
  private readonly watch = new LeaseWatch(performance);

  constructor(folder: string, timeLimitMs: number) {
    this.files = new NumberedFiles(folder, { rows: [], layouts: [] }, timeLimitMs);
  }

  async prepare({ min, max }: WorkerRange): Promise<void> {
    await this.files.create();
    await this.files.change(({ rows }) => {
      const ids = new Set(rows.map(({ id }) => id));
      for (let id = min; id <= max; id++) if (!ids.has(id)) rows.push(unusedRow(id));
      return rows.length > ids.size || undefined;
    });
  }

  async readTable(): Promise<WorkerTable> {
    const { rows, ...rest } = (await this.files.read()).content;
    const nowMs = Date.now();
    return { nowMs, rows: rows.map((row) => this.watch.look(row, nowMs)), deleted: [], ...rest };
  }

  async readSample(request: SampleRequest): Promise<WorkerSample> {
    return sampleRows(await this.readTable(), request);
  }

  async readRow(id: number): Promise<{ nowMs: number; row: WorkerRow | undefined }> {
    const { nowMs, rows } = await this.readTable();
    return { nowMs, row: rows.find((row) => row.id === id) };
  }

  async write(write: WorkerWrite): Promise<boolean> {
    const written = await this.files.change(({ rows }) => {
      const index = rows.findIndex(({ id }) => id === write.id);
      const row = writtenRow(rows[index], write, Date.now());
      return row && (rows[index] = row);
    });
    if (written !== undefined) this.watch.wrote(written);
    return written !== undefined;
  }

  async rememberLayout(layout: string): Promise<void> {
    await this.files.change(({ layouts }) => (layouts.includes(layout) ? undefined : layouts.push(layout)));
  }

  async fence(request: FenceRequest): Promise<number> {
    const fenced = await this.files.change((content) => {
      const now = { nowMs: Date.now(), deleted: [], ...content };
      const { rows, barredUntilMs, servedAlone } = fencedTable(now, request);
      Object.assign(content, { rows, barredUntilMs, servedAlone });
      return rows.length;
    });
    return fenced ?? 0;
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  abandon(): void {
    this.files.abandon();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
