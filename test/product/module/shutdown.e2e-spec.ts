import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ClosedError } from '@raindrop/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { get } from 'node:http';
import { DataSource } from 'typeorm';
import { databaseKinds } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { OPTIONS, typeorm, useDatabase } from '../../support/module/module-fixture.js';

/** What a request waits for, so that the server is closed while it is under way. */
const gate = { arrived: (): void => {}, mayGoOn: Promise.resolve() };

@Controller()
class SlowController {
  constructor(private readonly ids: IdService) {}

  @Get('slow')
  async slow(): Promise<string> {
    gate.arrived();
    await gate.mayGoOn;
    return this.ids.nextString();
  }
}

/** Over a connection of its own: one that is kept alive would keep the server open. */
function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.setEncoding('utf8').once('data', resolve);
    }).once('error', reject);
  });
}

describe.each(databaseKinds)('Shutting down a server on %s', (kind) => {
  const database = useDatabase(kind, 'suite');

  it.each([
    ['first', true],
    ['last', false],
  ])('serves the requests under way before it gives the worker back, imported %s', async (_, first) => {
    const imports = [RaindropModule.forRoot(OPTIONS), typeorm(database.options)];
    @Module({ imports: first ? imports : imports.reverse(), controllers: [SlowController] })
    class AppModule {}
    const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    const ids = app.get(IdService);

    let goOn!: () => void;
    gate.mayGoOn = new Promise((resolve) => (goOn = resolve));
    const arrived = new Promise<void>((resolve) => (gate.arrived = resolve));
    const answer = read(`${await app.getUrl()}/slow`);
    await arrived;
    const closed = app.close();
    // All hooks before that have been called by then.
    await until('the server accepts no connection any more', () => !app.getHttpServer().listening);
    expect(ids.status().state).toBe('held');
    goOn();
    expect(ids.parse(await answer).workerId).toBeGreaterThan(0);
    await closed;

    expect(() => ids.nextId()).toThrow(ClosedError);
    const admin = await new DataSource(database.options).initialize();
    const rows: unknown[] = await admin.query(`SELECT id FROM soc_raindrop_worker WHERE token <> ''`);
    await admin.destroy();
    expect(rows).toEqual([]);
  });
});
