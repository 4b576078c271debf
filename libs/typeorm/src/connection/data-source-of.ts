import type { DataSource } from 'typeorm';

/** The DataSource of an EntityManager or a QueryRunner. TypeORM 0.3 calls it connection. */
export function dataSourceOf(owner: { readonly dataSource: DataSource }): DataSource {
  return owner.dataSource ?? (owner as unknown as { connection: DataSource }).connection;
}
