// What is measured: the real service with a worker leased on SQLite or a given database, renewals, deadline, lanes and
// metrics on.
import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { RaindropMetrics } from '@raindrop/nestjs/opentelemetry';
import 'reflect-metadata';
import { createFile } from './databases.mjs';

/** Second ticks with 28 sequence bits: room for 268 million IDs a second, so that capacity does not decide. */
export const WIDE = { startTimeStamp: '2026-01-01', timeStampLength: 31, workIdLength: 3 };

/** The same, begun yesterday: its IDs are below 2^53 for 24 days, which numbers need. */
export const YOUNG = { ...WIDE, startTimeStamp: new Date(Date.now() - 86_400_000) };

/** Millisecond ticks with as many sequence bits as one says. */
export function milliseconds(sequenceBits) {
  const workIdLength = 21 - sequenceBits;
  return { timeUnit: 'millisecond', startTimeStamp: '2026-01-01', timeStampLength: 41, workIdLength, endBitsLength: 0 };
}

class Collector extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** @returns the service, what collects its metrics, and what ends it */
export async function openService(options, { isObserved = true, database } = {}) {
  const { options: dbConfig, drop } = database === undefined ? createFile() : { ...database, drop: () => {} };
  class AppModule {}
  Module({
    imports: [RaindropModule.forRoot({ ...options, dbConfig, checkShutdownHooks: false })],
    providers: isObserved ? [RaindropMetrics] : [],
  })(AppModule);
  const collector = new Collector();
  metrics.disable();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [collector] }));
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  const close = async () => {
    await app.close();
    await drop();
  };
  return { ids: app.get(IdService), collect: () => collector.collect(), close };
}
