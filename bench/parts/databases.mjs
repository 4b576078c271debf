// Empty databases to measure on: a SQLite file, and one on each server of this machine that answers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import typeorm from 'typeorm';

const SERVERS = [
  { name: 'MariaDB', options: { type: 'mariadb', host: '127.0.0.1', port: 3306, username: 'root' }, admin: 'mysql' },
  {
    name: 'PostgreSQL',
    options: { type: 'postgres', host: '127.0.0.1', port: 5432, username: 'postgres' },
    admin: 'postgres',
  },
];

/**
 * @returns `databases`, each with its name, TypeORM options and what drops it; `missing`, names of servers that do not
 * answer
 */
export async function openDatabases() {
  const servers = await Promise.all(SERVERS.map(onServer));
  return {
    databases: [inFile(), ...servers.filter(({ options }) => options !== undefined)],
    missing: servers.filter(({ options }) => options === undefined).map(({ name }) => name),
  };
}

function inFile() {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-bench-'));
  return {
    name: 'SQLite',
    options: { type: 'better-sqlite3', database: join(directory, 'bench.sqlite') },
    drop: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function onServer({ name, options, admin }) {
  const database = `raindrop_bench_${process.pid}`;
  const run = async (sql) => {
    const dataSource = await new typeorm.DataSource({ ...options, database: admin }).initialize();
    await dataSource.query(sql);
    await dataSource.destroy();
  };
  try {
    await run(`CREATE DATABASE ${database}`);
  } catch {
    return { name };
  }
  return { name, options: { ...options, database }, drop: () => run(`DROP DATABASE ${database}`) };
}
