import { ConfigurationError, createGenerator, presets } from '@raindrop/core';
import { openIdService, RaindropModule } from '@raindrop/nestjs';
import { createTestIdService, RaindropTestingModule } from '@raindrop/nestjs/testing';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { publicIds } from '@raindrop/node/public-ids';
import {
  attachIdService,
  checkPrecision,
  dataSourceDatabase,
  segmentTableMigration,
  workerHistoryTableMigration,
  workerTableMigration,
} from '@raindrop/typeorm';
import { DataSource } from 'typeorm';

/** What a program without types, or with a wrong cast, may pass. */
type Call = (given: never) => unknown;

const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });

const calls: readonly [name: string, call: Call][] = [
  ['openIdService', openIdService],
  ['createGenerator', createGenerator],
  ['presets.tsid', presets.tsid],
  ['publicIds', publicIds],
  ['RaindropModule.forRoot', (given) => RaindropModule.forRoot(given)],
  ['RaindropModule.forRootAsync', (given) => RaindropModule.forRootAsync(given)],
  ['RaindropTestingModule.forTest', (given) => RaindropTestingModule.forTest(given)],
  ['createTestIdService', createTestIdService],
  ['ApiSnowflake', ApiSnowflake],
  ['attachIdService, the DataSource', (given) => attachIdService(given, {} as never)],
  ['attachIdService, the service', (given) => attachIdService(dataSource, given)],
  ['attachIdService, the promise of a service', () => attachIdService(dataSource, Promise.resolve() as never)],
  ['checkPrecision', checkPrecision],
  ['dataSourceDatabase', dataSourceDatabase],
  ['workerTableMigration', workerTableMigration],
  ['workerHistoryTableMigration', workerHistoryTableMigration],
  ['segmentTableMigration', segmentTableMigration],
];

describe.each(calls)('%s', (_name, call) => {
  it.each([null, 'postgres://app:secret@db/app', 12, [[]]])('refuses %j in place of an object', async (given) => {
    const error: unknown = await Promise.resolve()
      .then(() => call(given as never))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems[0]!.message).toMatch(/^(must|requires)/);
  });
});
