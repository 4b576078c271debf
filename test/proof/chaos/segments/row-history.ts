import { DataSource, type DataSourceOptions } from 'typeorm';
import { openAppSegmentStore, openSegmentStore } from '../../../support/stores/open-segment-store.js';
import type { ChaosDatabaseKind } from '../fault-plan.js';
import { APP_TABLE, SEGMENT_TABLE } from './segment-messages.js';

const HISTORY = 'raindrop_history';

/** What a row went through, by key: every committed change of its `max_id`, written by the database itself. */
export interface RowHistory {
  readonly maxId: number;
  /** Undefined where the database keeps none. */
  readonly changes?: readonly { readonly before: number; readonly after: number }[];
}

/** Makes the tables, and the triggers that keep their history: not on MariaDB, where an UPDATE with a trigger tells no LAST_INSERT_ID. */
export async function keepHistory(kind: ChaosDatabaseKind, options: Readonly<Record<string, unknown>>): Promise<void> {
  const dataSource = options as unknown as DataSourceOptions;
  for (const store of [openSegmentStore(dataSource), openAppSegmentStore(dataSource)]) {
    await store.prepare();
    await store.close();
  }
  if (kind === 'mariadb') return;
  await withDatabase(options, async (database) => {
    await database.query(
      `CREATE TABLE ${HISTORY} (row_key varchar(140) NOT NULL, before_it bigint NOT NULL, after_it bigint NOT NULL)`,
    );
    for (const sql of triggers(kind)) await database.query(sql);
  });
}

export async function readHistory(
  kind: ChaosDatabaseKind,
  options: Readonly<Record<string, unknown>>,
): Promise<Map<string, RowHistory>> {
  return withDatabase(options, async (database) => {
    const codes = await database.query<CodeRow[]>(`SELECT code, max_id FROM ${SEGMENT_TABLE}`);
    const shards = await database.query<ShardRow[]>(`SELECT app_id, shard_id, max_id FROM ${APP_TABLE}`);
    const sql = `SELECT * FROM ${HISTORY}`;
    const changes = kind === 'mariadb' ? undefined : await database.query<ChangeRow[]>(sql);
    const entry = (key: string, maxId: number | string): [string, RowHistory] => [
      key,
      { maxId: Number(maxId), ...(changes !== undefined && { changes: changesOf(key, changes) }) },
    ];
    return new Map([
      ...codes.map(({ code, max_id }) => entry(code, max_id)),
      ...shards.map(({ app_id, shard_id, max_id }) => entry(`${app_id}_${shard_id}`, max_id)),
    ]);
  });
}

/** Drivers give a bigint as a number or as text. */
interface CodeRow {
  readonly code: string;
  readonly max_id: number | string;
}

interface ShardRow {
  readonly app_id: number;
  readonly shard_id: number;
  readonly max_id: number | string;
}

interface ChangeRow {
  readonly row_key: string;
  readonly before_it: number | string;
  readonly after_it: number | string;
}

function changesOf(key: string, all: readonly ChangeRow[]): Required<RowHistory>['changes'] {
  return all
    .filter(({ row_key }) => row_key === key)
    .map(({ before_it, after_it }) => ({ before: Number(before_it), after: Number(after_it) }))
    .filter(({ before, after }) => before !== after);
}

function triggers(kind: ChaosDatabaseKind): string[] {
  const keys = { [SEGMENT_TABLE]: 'NEW.code', [APP_TABLE]: `NEW.app_id || '_' || NEW.shard_id` };
  return Object.entries(keys).flatMap(([table, key]) => {
    const note = `INSERT INTO ${HISTORY} VALUES (${key}, OLD.max_id, NEW.max_id)`;
    const on = `CREATE TRIGGER ${table}_history AFTER UPDATE ON ${table} FOR EACH ROW`;
    if (kind === 'sqlite') return [`${on} BEGIN ${note}; END`];
    const body = `$$ BEGIN ${note}; RETURN NULL; END $$`;
    return [
      `CREATE FUNCTION note_${table}() RETURNS trigger LANGUAGE plpgsql AS ${body}`,
      `${on} EXECUTE FUNCTION note_${table}()`,
    ];
  });
}

async function withDatabase<T>(
  options: Readonly<Record<string, unknown>>,
  work: (database: DataSource) => Promise<T>,
): Promise<T> {
  const database = await new DataSource(options as unknown as DataSourceOptions).initialize();
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}
