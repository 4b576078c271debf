import { OptionReader } from '../config/option-reader.js';
import { MAX_ID } from '../codec/max-id.js';
import { SegmentExhaustedError, UnknownCodeError } from './segment-errors.js';
import { MemorySegmentSource, type SegmentRow } from './memory-segment-source.js';
import type { SegmentSource, SegmentStore } from './segment-store.js';

/** The options say how unknown codes are treated. */
export interface MemorySegmentOptions {
  /** Whether they get a row. Default true. */
  readonly autoCreateCode?: boolean;
  /** The step of these rows, 1-100,000,000. Default 1,000. */
  readonly step?: number;
}

/** Holds the table that several {@link MemorySegmentStore} share. */
export class MemorySegmentTable {
  readonly rows = new Map<string, SegmentRow>();
}

/**
 * Keeps segments in this process's memory: for databases that live in memory themselves, and for tests.
 *
 * It promises uniqueness inside this process and as long as it lives, nothing more.
 */
export class MemorySegmentStore implements SegmentStore {
  private readonly autoCreateCode: boolean;
  private readonly step: number;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly table: MemorySegmentTable,
    options: MemorySegmentOptions = {},
  ) {
    const reader = new OptionReader(options);
    this.autoCreateCode = reader.boolean('autoCreateCode', true);
    this.step = reader.integer('step', { min: 1, max: 100_000_000, default: 1_000 });
    reader.finish();
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  source(code: string): SegmentSource {
    return new MemorySegmentSource({
      find: () => this.rowOf(code),
      ceiling: (maxLimitId) => (maxLimitId === 0n ? MAX_ID : maxLimitId),
      exhausted: (maxLimitId) => new SegmentExhaustedError(code, maxLimitId === 0n ? MAX_ID : maxLimitId),
    });
  }

  /** None: memory that is gone is gone with everybody who used it. */
  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private rowOf(code: string): SegmentRow {
    const { rows } = this.table;
    const known = rows.get(code);
    if (known !== undefined) return known;
    if (!this.autoCreateCode) throw new UnknownCodeError(code);
    const created = { maxId: 0n, step: this.step, maxLimitId: 0n };
    rows.set(code, created);
    return created;
  }
}
