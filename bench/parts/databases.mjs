// Empty databases to measure on: a SQLite file, or one on a server.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';

/** Where the servers are, unless somebody says otherwise. */
export const SERVERS = {
  mariadb: process.env.RAINDROP_TEST_MARIADB_URL ?? 'mariadb://root@127.0.0.1:3306',
  postgres: process.env.RAINDROP_TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
};

/**
 * @returns `databases`, each with its name, TypeORM options and what drops it: SQLite, and those whose server answers;
 * `missing`, the names of the others
 */
export async function openDatabases() {
  const databases = [{ name: 'SQLite', ...createFile() }];
  const missing = [];
  for (const [name, type] of Object.entries({ MariaDB: 'mariadb', PostgreSQL: 'postgres' })) {
    try {
      databases.push({ name, ...(await createOnServer(type, SERVERS[type])) });
    } catch {
      missing.push(name);
    }
  }
  return { databases, missing };
}

/** @returns TypeORM options, and what drops it */
export function createFile() {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-bench-'));
  return {
    options: { type: 'better-sqlite3', database: join(directory, 'bench.sqlite') },
    drop: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** @returns TypeORM options, and what drops it */
export async function createOnServer(type, url) {
  const database = `raindrop_bench_${randomBytes(6).toString('hex')}`;
  // A connection that was cut off keeps PostgreSQL from dropping.
  const force = type === 'postgres' ? ' WITH (FORCE)' : '';
  await onServer(type, url, (server) => server.query(`CREATE DATABASE ${database}`));
  const own = new URL(url);
  own.pathname = database;
  return {
    options: { type, url: own.href },
    drop: () => onServer(type, url, (server) => server.query(`DROP DATABASE IF EXISTS ${database}${force}`)),
  };
}

async function onServer(type, url, work) {
  const server = await new DataSource({ type, url }).initialize();
  try {
    return await work(server);
  } finally {
    await server.destroy();
  }
}
