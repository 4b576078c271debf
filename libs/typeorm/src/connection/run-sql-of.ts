import type { RunSql } from '@raindrop/node/internal';
import type { QueryRunner } from 'typeorm';

/** Runs statements over a QueryRunner, and in its transaction where it has one. */
export function runSqlOf(runner: QueryRunner): RunSql {
  return async (sql, values = []) => {
    const { records, affected } = await runner.query(sql, [...values], true);
    return { records: records as Record<string, unknown>[], affected };
  };
}
