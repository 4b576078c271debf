// The databases: where a fresh one comes from, and how large the table in it is.
import { createFile, createOnServer } from '../parts/databases.mjs';

/**
 * Each: `create(url)` makes an empty database, `options` for TypeORM and `drop()`; `analyze` freshens its statistics;
 * `sizes(dataSource)` are the bytes of the table, of its key's index and of its other index.
 */
export const DATABASES = [
  {
    name: 'mariadb',
    title: 'MariaDB',
    moment: { type: 'datetime', precision: 3 },
    create: (url) => createOnServer('mariadb', url),
    analyze: 'ANALYZE TABLE orders',
    async sizes(dataSource) {
      // InnoDB keeps the rows in the index of the key.
      const [size] = await dataSource.query(
        `SELECT data_length AS "table", 0 AS "key", index_length AS other
         FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'orders'`,
      );
      return toNumbers(size);
    },
  },
  {
    name: 'postgres',
    title: 'PostgreSQL',
    moment: { type: 'timestamptz', precision: 3 },
    async create(url) {
      const { options, drop } = await createOnServer('postgres', url);
      // The faster of the two generators that TypeORM knows.
      return { options: { ...options, uuidExtension: 'pgcrypto' }, drop };
    },
    analyze: 'ANALYZE orders',
    async sizes(dataSource) {
      const [size] = await dataSource.query(
        `SELECT pg_table_size('orders') AS "table", sum(pg_relation_size(indexrelid)) FILTER (WHERE indisprimary) AS "key",
           sum(pg_relation_size(indexrelid)) FILTER (WHERE NOT indisprimary) AS other
         FROM pg_index WHERE indrelid = 'orders'::regclass`,
      );
      return toNumbers(size);
    },
  },
  {
    name: 'sqlite',
    title: 'SQLite',
    moment: { type: 'datetime' },
    create: createFile,
    analyze: 'ANALYZE orders',
    async sizes(dataSource) {
      // An auto-increment key is the table's own order and has no index beside it.
      const [size] = await dataSource.query(
        `SELECT sum(pgsize) FILTER (WHERE name = 'orders') AS "table",
           sum(pgsize) FILTER (WHERE name LIKE 'sqlite_autoindex_orders%') AS "key",
           sum(pgsize) FILTER (WHERE name = 'orders_created_at') AS other
         FROM dbstat`,
      );
      return toNumbers(size);
    },
  },
];

function toNumbers({ table, key, other }) {
  return { table: Number(table), key: Number(key ?? 0), createdAtIndex: Number(other ?? 0) };
}
