// One start of an application, in a process of its own: node one-start.mjs own|host OPTIONS-OF-THE-DATABASE WORKER-BITS TABLE
import { createRequire } from 'node:module';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import 'reflect-metadata';

const [, , form, json, bits, tableName] = process.argv;
/** With 10 bits that of the readme: 1,023 workers. */
const LAYOUT = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: Number(bits), endBitsLength: 1 };

const database = JSON.parse(json);
const counted = { statements: 0 };
countStatements(database.type);
const app = { begunMs: performance.now(), moduleBegunMs: 0, firstIdMs: 0, statementsBefore: 0 };

const begin = () => {
  app.moduleBegunMs = performance.now();
  app.statementsBefore = counted.statements;
  return { ...LAYOUT, tableName, checkShutdownHooks: false, ...(form === 'own' ? { dbConfig: database } : {}) };
};
const end = (ids) => {
  ids.nextId();
  app.firstIdMs = performance.now();
};
class AppModule {}
Module({
  imports: [
    ...(form === 'host' ? [TypeOrmModule.forRoot(database)] : []),
    // Called when the application's DataSource, if it has one, is open.
    RaindropModule.forRootAsync({ inject: form === 'host' ? [getDataSourceToken()] : [], useFactory: begin }),
  ],
  providers: [{ provide: 'first ID', inject: [IdService], useFactory: end }],
})(AppModule);
const context = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const { begunMs, moduleBegunMs, firstIdMs, statementsBefore } = app;
process.stdout.write(
  JSON.stringify({
    appMs: firstIdMs - begunMs,
    untilModuleMs: moduleBegunMs - begunMs,
    moduleMs: firstIdMs - moduleBegunMs,
    statements: counted.statements - statementsBefore,
  }),
);
await context.close();

/** Loads the driver, as any use of TypeORM in an application has done, and counts what is sent through it. */
function countStatements(type) {
  const load = createRequire(createRequire(import.meta.url).resolve('typeorm'));
  if (type === 'better-sqlite3') return load('better-sqlite3');
  const { prototype } = type === 'postgres' ? load('pg').Client : load('mysql2').Connection;
  const { query } = prototype;
  prototype.query = function (...given) {
    counted.statements++;
    return query.apply(this, given);
  };
}
