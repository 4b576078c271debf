import type { ReservedSegment, SegmentSource } from '@raindrop/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ROW_STEP, SEGMENT_TABLE } from './segment-messages.js';

const TRANSACTION_MS = 20;
const ROLLED_BACK_SHARE = 0.2;

/** The rows of codes without a safeguard each: the negative controls of the segment runs. They must repeat numbers. */
export class BrokenSources {
  private readonly database: DataSource;
  private opening: Promise<unknown> | undefined;

  constructor(options: Readonly<Record<string, unknown>>) {
    this.database = new DataSource({ ...options, poolSize: 4 } as unknown as DataSourceOptions);
  }

  /** Reserves inside a transaction of the caller's, some of which are rolled back when the numbers are in use. */
  rolledBack(code: string, row: SegmentSource): SegmentSource {
    let hasRow = false;
    return {
      reserve: async (request) => {
        if (hasRow) return this.reserveInside(code);
        const first = await row.reserve(request);
        hasRow = true;
        return first;
      },
      giveBack: () => Promise.resolve(false),
    };
  }

  /** Gives back whatever others have reserved since. */
  unguarded(code: string, row: SegmentSource): SegmentSource {
    return {
      reserve: (request) => row.reserve(request),
      giveBack: async ({ first }) => {
        await this.open();
        await this.database.query(`UPDATE ${SEGMENT_TABLE} SET max_id = ${first - 1n} WHERE code = '${code}'`);
        return true;
      },
    };
  }

  private async reserveInside(code: string): Promise<ReservedSegment> {
    await this.open();
    const runner = this.database.createQueryRunner();
    const end = async (): Promise<void> => {
      await sleep(TRANSACTION_MS);
      if (Math.random() < ROLLED_BACK_SHARE) await runner.rollbackTransaction();
      else await runner.commitTransaction();
    };
    const release = (): Promise<void> => runner.release().catch(() => undefined);
    try {
      await runner.startTransaction();
      await runner.query(`UPDATE ${SEGMENT_TABLE} SET max_id = max_id + ${ROW_STEP} WHERE code = '${code}'`);
      const sql = `SELECT max_id FROM ${SEGMENT_TABLE} WHERE code = '${code}'`;
      const [row] = (await runner.query(sql)) as unknown as { max_id: unknown }[];
      const last = BigInt(String(row!.max_id));
      void end()
        .catch(() => undefined)
        .finally(release);
      return { first: last - BigInt(ROW_STEP) + 1n, last, step: ROW_STEP };
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Early, so that a process that ends has a connection. */
  async open(): Promise<void> {
    this.opening ??= this.database.initialize();
    await this.opening.catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
  }
}
