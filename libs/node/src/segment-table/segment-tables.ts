import type { ColumnDefinition } from '../database/column-definition.js';

/** The table of codes when no other name is given. */
export const DEFAULT_SEGMENT_TABLE = 'raindrop_segment';

/** The table of apps and their shards when no other name is given. */
export const DEFAULT_APP_SEGMENT_TABLE = 'raindrop_app_segment';

/** Numbers taken at once when a row says nothing else. */
export const DEFAULT_STEP = 1_000;

/** A table of segments: what it consists of, and how people make it. */
export interface SegmentTable {
  readonly columns: readonly ColumnDefinition[];
  readonly key: readonly string[];
  /** The functions that print its statements and that make its migration, for messages. */
  readonly sqlBy: string;
  readonly migrationBy: string;
}

const MAX_ID_COLUMN: ColumnDefinition = { name: 'max_id', kind: 'bigint', defaultValue: '0' };

const LIMITS: readonly ColumnDefinition[] = [
  { name: 'step', kind: 'int', defaultValue: String(DEFAULT_STEP) },
  { name: 'max_limit_id', kind: 'bigint', defaultValue: '0' },
  { name: 'description', kind: { text: 255 }, defaultValue: "''" },
];

const TIMES: readonly ColumnDefinition[] = [
  { name: 'create_time', kind: 'time', defaultValue: 'now' },
  { name: 'update_time', kind: 'time', defaultValue: 'touched' },
];

/** A row for each code. Its `version` is a new random number at every write, so that each write can be told from all others. */
export const CODE_SEGMENTS: SegmentTable = {
  columns: [
    { name: 'code', kind: { key: 128 }, defaultValue: undefined },
    MAX_ID_COLUMN,
    ...LIMITS,
    { name: 'version', kind: 'bigint', defaultValue: '0' },
    ...TIMES,
  ],
  key: ['code'],
  sqlBy: 'segmentTableSql()',
  migrationBy: 'segmentTableMigration()',
};

/** A row for each shard of each app: the original service's `id_alloc`. */
export const APP_SEGMENTS: SegmentTable = {
  columns: [
    { name: 'app_id', kind: 'int', defaultValue: undefined },
    { name: 'shard_id', kind: 'int', defaultValue: undefined },
    { name: 'app_name', kind: { text: 128 }, defaultValue: "''" },
    MAX_ID_COLUMN,
    ...LIMITS,
    ...TIMES,
  ],
  key: ['app_id', 'shard_id'],
  sqlBy: 'appSegmentTableSql()',
  migrationBy: 'appSegmentTableMigration()',
};
