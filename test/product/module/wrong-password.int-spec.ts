import { RaindropModule } from '@raindrop/nestjs';
import { DataSource } from 'typeorm';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { startPostgres } from '../../support/servers/private-servers.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { SECRET } from './failing-starts.js';
import { limitedAccount, type LimitedAccount, type ServerOptions } from '../../support/module/limited-account.js';
import { OPTIONS, startApp, useDatabase } from '../../support/module/module-fixture.js';

const failure = (dbConfig: ServerOptions): Promise<unknown> =>
  startApp([RaindropModule.forRoot({ ...OPTIONS, dbConfig })]).catch((error: unknown) => error);

describe('A wrong password', () => {
  let server: PrivateServer | undefined;
  afterAll(() => server?.stop());

  const mariadb = useDatabase('mariadb', 'suite');
  let account: LimitedAccount | undefined;
  afterAll(() => account?.drop());

  it('is refused by MariaDB and reported as such, not as an outage', async () => {
    account = await limitedAccount('mariadb', mariadb.options as ServerOptions, SECRET);
    const error = await failure({ ...account.options, password: 'wrong' });
    expect(error).toMatchObject({
      errorCode: 'DATABASE_REFUSED',
      refusal: 'account',
      driverCode: 'ER_ACCESS_DENIED_ERROR',
      retryable: false,
    });
  });

  it('is refused by a PostgreSQL that asks for one, and reported as such', async () => {
    server = await startPostgres();
    const { options } = await testDatabase('postgres', server.url);
    const { options: limited } = await limitedAccount('postgres', options as ServerOptions, SECRET);
    const admin = await new DataSource(options).initialize();
    const [file] = await admin.query<{ hba_file: string }[]>('SHOW hba_file');
    const rules = ['host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256'];
    await admin.query(`COPY (VALUES ${rules.map((each) => `('${each}')`).join(', ')}) TO '${file!.hba_file}'`);
    await admin.destroy();
    await server.restart();

    expect(await failure({ ...limited, password: 'wrong' })).toMatchObject({
      errorCode: 'DATABASE_REFUSED',
      refusal: 'account',
      driverCode: '28P01',
      retryable: false,
    });
    expect(await failure(limited)).toMatchObject({ errorCode: 'TABLE_MISSING' });
  });
});
