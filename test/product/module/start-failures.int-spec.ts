import { Injectable, Module } from '@nestjs/common';
import { ConfigurationError } from '@raindrop/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { testDatabase } from '../../support/servers/test-databases.js';
import { TcpProxy } from '../../support/proxies/tcp-proxy.js';
import { SECRET, serverTrouble, wrongImports, wrongOptions, type FailingStart } from './failing-starts.js';
import { limitedAccount, type LimitedAccount, type ServerOptions } from '../../support/module/limited-account.js';
import { LogCapture } from './log-capture.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

interface Failure {
  readonly error: Error & { readonly errorCode?: string; readonly retryable?: boolean };
  readonly log: LogCapture;
}

let another: { TypeOrmModule: typeof TypeOrmModule; DataSource: typeof DataSource } | undefined;

async function failureOf(imports: ReturnType<FailingStart['imports']>): Promise<Failure> {
  const log = new LogCapture();
  const error = await startApp(imports, [], log).then(
    () => Promise.reject(new Error('it started')),
    (reason: unknown) => reason as Failure['error'],
  );
  return { error, log };
}

async function expectFailure({ imports, says, errorCode, retryable }: FailingStart): Promise<void> {
  const { error, log } = await failureOf(imports());
  expect({ errorCode: error.errorCode ?? '', message: error.message }).toMatchObject({ errorCode });
  for (const each of says) expect(error.message).toContain(each);
  if (retryable !== undefined) expect(error.retryable).toBe(retryable);
  // Nest shows the error; nothing else is logged under our name.
  expect(log.lines.filter((line) => line.includes(error.message.split('\n')[0]!)).length).toBeGreaterThan(0);
  expect(log.ofRaindrop.filter((line) => !line.includes('ExceptionHandler'))).toEqual([]);
}

describe('An application that does not start', () => {
  const database = useDatabase('sqlite', 'suite');
  const starts = [...wrongOptions(() => database.options), ...wrongImports(() => database.options)];

  it.each(starts.map((each) => [each.title, each] as const))('says why: %s', (_, start) => expectFailure(start));

  it.each([
    ['forRoot', undefined, 'forRoot = undefined'],
    ['forRoot', `mysql://root:${SECRET}@host`, 'forRoot = a string'],
    ['forRootAsync', undefined, 'forRootAsync = undefined'],
    ['forRootAsync', {}, 'useFactory = undefined: is required'],
  ] as const)('says where it is imported: %s(%j)', (method, given, says) => {
    const failing = (): unknown => RaindropModule[method](given as never);
    expect(failing).toThrow(ConfigurationError);
    expect(failing).toThrow(says);
    expect(failing).not.toThrow(SECRET);
  });

  it('says so when the DataSource is of another copy of typeorm', async () => {
    const [common, core] = [await import('@nestjs/common'), await import('@nestjs/core')];
    await jest.isolateModulesAsync(async () => {
      jest.doMock('@nestjs/common', () => common);
      jest.doMock('@nestjs/core', () => core);
      const [nest, orm] = [await import('@nestjs/typeorm'), await import('typeorm')];
      another = { TypeOrmModule: nest.TypeOrmModule, DataSource: orm.DataSource };
    });
    for (const each of ['@nestjs/common', '@nestjs/core']) jest.dontMock(each);
    expect(another!.DataSource).not.toBe(DataSource);
    const options = { ...database.options, retryAttempts: 0 };
    const { error } = await failureOf([another!.TypeOrmModule.forRoot(options), RaindropModule.forRoot(OPTIONS)]);
    expect(error.errorCode).toBe('CONFIGURATION');
    expect(error.message).toMatch(/another copy of typeorm .*npm ls typeorm/);
    expect(error.message).not.toContain('there is no TypeORM DataSource');
  });

  it('names the token that a factory injects and no module provides', async () => {
    @Injectable()
    class Settings {}
    const useFactory = (): typeof OPTIONS => OPTIONS;
    const { error } = await failureOf([RaindropModule.forRootAsync({ inject: [Settings], useFactory })]);
    expect(error.message).toMatch(/Settings.*RaindropModule/s);
  });

  it('keeps what was thrown as the cause', async () => {
    const cause = new TypeError('no such setting');
    const { error } = await failureOf([RaindropModule.forRootAsync({ useFactory: () => Promise.reject(cause) })]);
    expect(error).toMatchObject({ errorCode: 'OPTIONS_FACTORY', way: 'useFactory', cause });
  });

  it('takes no worker id when it is imported twice', async () => {
    const own = await testDatabase('sqlite');
    await failureOf([typeorm(own.options), RaindropModule.forRoot(OPTIONS), RaindropModule.forRoot(OPTIONS)]);
    const source = await new DataSource(own.options).initialize();
    expect(await source.createQueryRunner().hasTable('soc_raindrop_worker')).toBe(false);
    await source.destroy();
    await own.drop();
  });
});

describe('An application that starts all the same', () => {
  it('has two services of one name that are kept to their importers', async () => {
    const local = (workerId: number) =>
      RaindropModule.forRoot({ ...OPTIONS, isGlobal: false, workerIdAssigner: 'static', workerId });
    const workers: (number | undefined)[] = [];
    const feature = (workerId: number) => {
      @Module({ imports: [local(workerId)] })
      class FeatureModule {
        constructor(ids: IdService) {
          workers.push(ids.workerId);
        }
      }
      return FeatureModule;
    };
    const app = await startApp([feature(3), feature(4)]);
    expect(workers.sort()).toEqual([3, 4]);
    await app.close();
  });
});

describe.each(['mariadb', 'postgres'] as const)('An application that does not start on %s', (kind) => {
  const database = useDatabase(kind, 'suite');
  let account: LimitedAccount;
  const admin = (): ServerOptions => database.options as ServerOptions;

  beforeAll(async () => {
    account = await limitedAccount(kind, admin(), SECRET);
  });

  afterAll(() => account.drop());

  const troubles = serverTrouble(() => ({ admin: admin(), limited: account.options }));
  it.each(troubles.map((each) => [each.title, each] as const))('says why: %s', (_, start) => expectFailure(start));

  it('is tried once only with credentials that were refused', async () => {
    const { host = '', port = 0 } = admin();
    const proxy = await TcpProxy.start({ host, port });
    const strange = { ...admin(), port: proxy.port, username: 'raindrop_nobody', password: SECRET } as ServerOptions;
    await failureOf([RaindropModule.forRoot({ ...OPTIONS, dbConfig: strange })]);
    expect(proxy.connections).toBe(1);
    await proxy.stop();
  });

  it('says so when the database goes down between the application and the worker id', async () => {
    const { host = '', port = 0 } = admin();
    const proxy = await TcpProxy.start({ host, port });
    const opened: DataSource[] = [];
    const app = TypeOrmModule.forRootAsync({
      useFactory: () => ({ ...admin(), port: proxy.port, retryAttempts: 0 }),
      dataSourceFactory: async (options) => {
        opened.push(await new DataSource(options!).initialize());
        await proxy.stop();
        return opened[0]!;
      },
    });
    const { error } = await failureOf([app, RaindropModule.forRoot(OPTIONS)]);
    expect(error).toMatchObject({ errorCode: 'STORE_UNAVAILABLE', retryable: true });
    expect(error.message).toContain('is unavailable');
    await opened[0]!.destroy();
  });

  it("names the DataSource's options where they are what the database refuses", async () => {
    const started = await startApp([RaindropModule.forRoot({ ...OPTIONS, dbConfig: admin(), tableName: 'prepared' })]);
    await started.close();
    const { error } = await failureOf([
      typeorm(account.options),
      RaindropModule.forRoot({ ...OPTIONS, tableName: 'prepared' }),
    ]);
    expect(error).toMatchObject({ errorCode: 'DATABASE_REFUSED', refusal: 'rights', retryable: false });
    expect(error.message).toContain(
      "SELECT, INSERT and UPDATE on the table, or use another account in the DataSource's options",
    );
  });
});
