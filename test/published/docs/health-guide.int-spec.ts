import { Controller, Get, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { HealthCheck, HealthCheckService, TerminusModule, type HealthCheckResult } from '@nestjs/terminus';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import Sqlite from 'better-sqlite3';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { OPTIONS } from '../../support/module/module-fixture.js';
import { blocksOf } from './documents.js';
import { runShell } from './run-shell.js';
import { shellCommands } from './shell-commands.js';
import { differences } from './shown-answer.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const [endpoints] = typescriptBlocks(readDocument('docs/health.md'));
const [, ask] = shellCommands(['docs/health.md']);
const block = (language: string): string => blocksOf('docs/health.md').find((each) => each.language === language)!.text;
const LOCAL = 'http://127.0.0.1:3000';

const folder = mkdtempSync(join(tmpdir(), 'raindrop-health-guide-'));
const file = join(folder, 'shop.sqlite');
let app: NestFastifyApplication;
let url: string;

beforeAll(async () => {
  const scope = { Controller, Get, Module, HealthCheck, HealthCheckService, TerminusModule, RaindropHealthIndicator };
  const HealthModule = runBlock(endpoints!, scope)['HealthModule'] as Type;
  const raindrop = RaindropModule.forRoot({ ...OPTIONS, dbConfig: `sqlite:${file}`, heartbeatIntervalMs: 100 });

  @Module({ imports: [raindrop, HealthModule] })
  class AppModule {}

  app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false });
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

it('docs/health.md shows what readiness answers', async () => {
  const { stdout } = await runShell(ask!.command.replace(LOCAL, url), folder);
  const { status, info } = JSON.parse(stdout) as HealthCheckResult;
  // The clocks of the database and of the host may differ by a millisecond in either direction.
  const answered = { status, info: { ids: { ...info!['ids'], clockOffsetMs: 0 } } };
  const shown = JSON.parse(block('json')) as { info: { ids: object } };
  // A renewal has measured it, or not yet.
  for (const { ids } of [shown.info, answered.info]) Object.assign(ids, { saturation: null });
  expect(differences(shown, answered)).toEqual([]);
});

it('docs/health.md has probes that ask endpoints of its controller, and both answer 200', async () => {
  const probes = parse(block('yaml')) as Record<string, { httpGet: { path: string } }>;
  expect(Object.keys(probes)).toEqual(['startupProbe', 'readinessProbe', 'livenessProbe']);
  for (const { httpGet } of Object.values(probes)) expect((await fetch(`${url}${httpGet.path}`)).status).toBe(200);
});

it('docs/health.md says that a lost lease makes the process unready, and leaves it alive', async () => {
  const lost = once(app.get(IdService).events, 'lease-lost');
  const database = new Sqlite(file);
  database.exec('UPDATE soc_raindrop_worker SET del_flag = 1');
  database.close();
  await lost;
  const ready = await fetch(`${url}/health/ready`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { error: { ids: { reason: 'LEASE_LOST' } } }]);
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
});
