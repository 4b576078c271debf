import type { DataSource, QueryRunner } from 'typeorm';
import type { RunSql } from '@raindrop/node/internal';

/** The DataSource of an EntityManager or a QueryRunner. TypeORM 0.3 calls it connection. */
export function dataSourceOf(owner: { readonly dataSource: DataSource }): DataSource {
  return owner.dataSource ?? (owner as unknown as { connection: DataSource }).connection;
}

/** Runs statements over a QueryRunner, and in its transaction where it has one. */
export function runSqlOf(runner: QueryRunner): RunSql {
  return async (sql, values = []) => {
    const { records, affected } = await runner.query(sql, [...values], true);
    return { records: records as Record<string, unknown>[], affected };
  };
}
