import type { ColumnDefinition } from '../database/column-definition.js';

/** The Go original's columns, with its meaning and its defaults. */
export const ORIGINAL_COLUMNS: readonly ColumnDefinition[] = [
  { name: 'id', kind: 'bigint', defaultValue: undefined },
  { name: 'code', kind: { text: 128 }, defaultValue: "''" },
  { name: 'time_unit', kind: 'small', defaultValue: '2' },
  { name: 'heartbeat_time', kind: 'time', defaultValue: 'now' },
  { name: 'create_time', kind: 'time', defaultValue: 'now' },
  { name: 'update_time', kind: 'time', defaultValue: 'touched' },
  { name: 'version', kind: 'bigint', defaultValue: '1' },
  { name: 'del_flag', kind: 'small', defaultValue: '2' },
];

/** Ours. All have defaults, so that the original's INSERT and UPDATE, which do not name them, go on working. */
export const OWN_COLUMNS: readonly ColumnDefinition[] = [
  { name: 'token', kind: { exact: 64 }, defaultValue: "''" },
  { name: 'holder', kind: { text: 160 }, defaultValue: "''" },
  { name: 'layout', kind: { exact: 160 }, defaultValue: "''" },
  { name: 'lease_until', kind: 'bigint', defaultValue: '0' },
  { name: 'lane', kind: 'small', defaultValue: '0' },
  { name: 'odo0_ms', kind: 'bigint', defaultValue: '0' },
  { name: 'odo0_seq', kind: 'bigint', defaultValue: '-1' },
  { name: 'odo1_ms', kind: 'bigint', defaultValue: '0' },
  { name: 'odo1_seq', kind: 'bigint', defaultValue: '-1' },
  { name: 'own_version', kind: 'bigint', defaultValue: '0' },
];

/** The columns of the table beside it, which remembers layouts. */
export const LAYOUT_COLUMNS: readonly ColumnDefinition[] = [
  { name: 'fingerprint', kind: { exact: 160 }, defaultValue: undefined },
  { name: 'first_seen_ms', kind: 'bigint', defaultValue: '0' },
];

/** Characters kept of a holder, which is for people only. */
export const HOLDER_LENGTH = 160;

/** The columns that get an index, as in the original. */
export const INDEXED_COLUMNS: readonly string[] = ['heartbeat_time', 'code'];
