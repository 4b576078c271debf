import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { checkCount, fill } from './fill.mjs';
import { orderEntity } from './orders.mjs';
import { read } from './reads.mjs';

/** One kind of key on one database: a fresh database, filled, looked at, read, dropped. */
export async function run(database, kind, { url, ...options }) {
  const { options: connection, drop } = await database.create(url);
  try {
    const Order = orderEntity(kind.key, database.moment);
    const app = await openApp({ ...connection, entities: [Order], synchronize: true }, kind);
    try {
      const dataSource = app.get(DataSource);
      return await measure(database, kind, dataSource, dataSource.getRepository(Order), options);
    } finally {
      await app.close();
    }
  } finally {
    await drop();
  }
}

async function openApp(connection, { modules = () => [] }) {
  class AppModule {}
  Module({ imports: [TypeOrmModule.forRoot({ ...connection, retryAttempts: 0 }), ...modules()] })(AppModule);
  return NestFactory.createApplicationContext(AppModule, { logger: ['error'], abortOnError: false });
}

async function measure(database, kind, dataSource, repository, options) {
  const { rows, signal } = options;
  const { insertMs, rowsPerSecond, keys, moments } = await fill(repository, kind, options);
  await checkCount(repository, rows);
  // Keys that do not tell the time need an index that does. It comes afterwards: the inserts compare the keys alone.
  const createdAtIndexMs = kind.within === undefined ? await indexCreatedAt(dataSource) : 0;
  await dataSource.query(database.analyze);
  signal.throwIfAborted();
  return {
    database: database.name,
    version: String((await dataSource.query(`SELECT ${versionOf(database)} AS version`))[0].version),
    kind: kind.name,
    rows,
    batch: options.batch,
    insertMs,
    createdAtIndexMs,
    bytes: await database.sizes(dataSource),
    ...(await read(repository, kind, { rows, keys, moments, signal })),
    rowsPerSecond,
  };
}

async function indexCreatedAt(dataSource) {
  const begun = performance.now();
  await dataSource.query('CREATE INDEX orders_created_at ON orders (created_at)');
  return performance.now() - begun;
}

function versionOf({ name }) {
  return { mariadb: 'version()', postgres: "current_setting('server_version')", sqlite: 'sqlite_version()' }[name];
}
