import { once } from 'node:events';
import type { INestApplicationContext } from '@nestjs/common';
import { IdService, LeaseLostError, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import { OPTIONS, startApp } from '../../support/module/module-fixture.js';
import type { ServerOptions } from '../../support/module/limited-account.js';
import { serverAddress } from '../../support/servers/server-address.js';
import { until } from '../../support/until.js';
import {
  refusingMariadb,
  refusingPostgres,
  type RefusedAccount,
  type RefusingServer,
} from '../../support/proxies/refusing-servers.js';

const MANY = 20;

/** Whether the status of the service names the driver's code. */
function saysWhy(ids: IdService, driverCode: string): boolean {
  const status = ids.status();
  return status.idMode === 'snowflake' && String(status.lastError?.message).includes(driverCode);
}

// An error without a listener would end the process; here it fails the test that runs.
describe.each([
  ['MariaDB', refusingMariadb],
  ['PostgreSQL', refusingPostgres],
] as const)('A service whose %s refuses its account', (_, startServer) => {
  let server: RefusingServer;
  let account: RefusedAccount;
  let options: SnowflakeModuleOptions;
  let tests = 0;

  beforeAll(async () => {
    server = await startServer();
  });

  afterAll(() => server?.stop());

  beforeEach(async () => {
    account = { name: `shop${++tests}`, password: 'Geheim-7kQ', database: `shop${tests}` };
    const { name, password, database } = account;
    await server.run(
      ...(server.kind === 'postgres'
        ? [`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`, `CREATE DATABASE ${database} OWNER ${name}`]
        : [
            `CREATE DATABASE ${database}`,
            `CREATE USER '${name}'@'%' IDENTIFIED BY '${password}'`,
            `GRANT ALL ON ${database}.* TO '${name}'@'%'`,
          ]),
    );
    const { host, port } = serverAddress(server.url, 0);
    const dbConfig = { type: server.kind, host, port, username: name, password, database } as ServerOptions;
    options = { ...OPTIONS, dbConfig, heartbeatIntervalMs: 200 };
  });

  const start = (): Promise<INestApplicationContext> => startApp([RaindropModule.forRoot(options)]);
  const refusal = (title: string): RefusingServer['refusals'][number] =>
    server.refusals.find((each) => each.title.startsWith(title))!;
  const titles = startServer === refusingMariadb ? ['1040', '1045', '1049'] : ['53300', '28P01', '3D000'];

  it.each(titles.slice(0, 2))('with %s runs on, and renews once it may', async (title) => {
    const app = await start();
    const ids = app.get(IdService);
    const { begin, end, driverCode } = refusal(title);
    await begin(account);
    await until('the refusal', () => saysWhy(ids, driverCode));
    expect(ids.nextId()).toBeGreaterThan(0n);
    await end(account);
    await once(ids.events, 'lease-renewed');
    await app.close();
  });

  it.each(titles.slice(2))('with %s loses its worker, whose row has gone with the database', async (title) => {
    const app = await start();
    const ids = app.get(IdService);
    const { begin, end, driverCode } = refusal(title);
    const isLost = once(ids.events, 'lease-lost');
    await begin(account);
    await until('the refusal', () => saysWhy(ids, driverCode));
    await isLost;
    expect(() => ids.nextId()).toThrow(LeaseLostError);
    await end(account);
    await app.close();
  });

  it.each(titles)('with %s is closed all the same', async (title) => {
    const app = await start();
    const { begin, end } = refusal(title);
    await begin(account);
    await expect(app.close()).resolves.toBeUndefined();
    await end(account);
  });

  it.each(titles)(`with %s at the start fails with its reason, ${MANY} at once`, async (title) => {
    const { begin, end, driverCode } = refusal(title);
    await begin(account);
    const starts = await Promise.allSettled(Array.from({ length: MANY }, start));
    for (const each of starts) {
      expect(each).toMatchObject({ status: 'rejected' });
      expect((each as PromiseRejectedResult).reason).toMatchObject({
        message: expect.stringContaining(driverCode) as string,
      });
    }
    await end(account);
    await (await start()).close();
  });
});
