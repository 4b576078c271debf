import { Injectable, Module, type DynamicModule, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule, type SnowflakeModuleOptions, type RaindropOptionsFactory } from '@raindrop/nestjs';
import type { DataSourceOptions } from 'typeorm';
import type { ServerOptions } from '../../support/module/limited-account.js';
import { OPTIONS, typeorm } from '../../support/module/module-fixture.js';

/** An application that does not start, and how it says so. */
export interface FailingStart {
  readonly title: string;
  readonly imports: () => (DynamicModule | Type)[];
  readonly errorCode: string;
  /** What the message must contain. */
  readonly says: readonly string[];
  readonly retryable?: boolean;
}

/** A word that must never be seen; part of every password. */
export const SECRET = 'Geheim-7kQ';

const URL_WITH_SECRET = `mysql://root:${SECRET}@127.0.0.1:1/db`;

/** Options as somebody writes them who has no compiler to stop him. */
type Anything = never;

class NoFactory {}

@Injectable()
class ThrowingFactory implements RaindropOptionsFactory {
  createRaindropOptions(): SnowflakeModuleOptions {
    throw new Error('the vault is sealed');
  }
}

@Module({ providers: [NoFactory], exports: [NoFactory] })
class NoFactoryModule {}

/** Wrong options, and options that could not be made. */
export function wrongOptions(database: () => DataSourceOptions): FailingStart[] {
  const made = (
    title: string,
    useFactory: () => unknown,
    says: readonly string[],
    errorCode = 'CONFIGURATION',
  ): FailingStart => ({
    title: `a factory that ${title}`,
    imports: () => [typeorm(database()), RaindropModule.forRootAsync({ useFactory: useFactory as Anything })],
    errorCode,
    says: ['useFactory', ...says],
  });
  const wrong = (
    title: string,
    options: object,
    says: readonly string[],
    errorCode = 'CONFIGURATION',
  ): FailingStart => ({
    title,
    imports: () => [typeorm(database()), RaindropModule.forRoot({ ...OPTIONS, ...options })],
    errorCode,
    says,
  });
  const thrown = (error: unknown) => () => {
    throw error;
  };
  return [
    made('throws', thrown(new Error('no such setting')), ['threw: no such setting'], 'OPTIONS_FACTORY'),
    made('throws a text', thrown('no such setting'), ['threw', 'not an Error'], 'OPTIONS_FACTORY'),
    made('rejects', () => Promise.reject(new Error('no setting')), ['threw: no setting'], 'OPTIONS_FACTORY'),
    made('returns undefined', () => undefined, ['undefined', 'must return the options']),
    made('returns a promise of null', () => Promise.resolve(null), ['null', 'must return the options']),
    made('returns a text', () => URL_WITH_SECRET, ['a string', 'must return the options']),
    made('returns an array', () => [URL_WITH_SECRET], ['an array', 'must return the options']),
    made('returns what belongs next to it', () => ({ ...OPTIONS, name: 'a', isGlobal: true, dataSource: 'b' }), [
      ...['name = "a": belongs next to', 'isGlobal = true: belongs next to', 'dataSource = "b": belongs next to'],
    ]),
    {
      title: 'a class without createRaindropOptions()',
      imports: () => [RaindropModule.forRootAsync({ useClass: NoFactory as Anything })],
      errorCode: 'CONFIGURATION',
      says: ['useClass = NoFactory', 'createRaindropOptions()'],
    },
    {
      title: 'a provider without createRaindropOptions()',
      imports: () => [RaindropModule.forRootAsync({ imports: [NoFactoryModule], useExisting: NoFactory as Anything })],
      errorCode: 'CONFIGURATION',
      says: ['useExisting = NoFactory', 'createRaindropOptions()'],
    },
    {
      title: 'a class whose createRaindropOptions() throws',
      imports: () => [RaindropModule.forRootAsync({ useClass: ThrowingFactory })],
      errorCode: 'OPTIONS_FACTORY',
      says: ['useClass threw', 'the vault is sealed'],
    },
    wrong('a database URL of another kind', { dbConfig: `mongodb://root:${SECRET}@host` }, ['dbConfig', 'mysql:']),
    wrong('a database type with a slip', { dbConfig: { type: 'postgress', password: SECRET } }, [
      "'postgress'",
      "'postgres'",
    ]),
    wrong(
      'a URL that the driver cannot read',
      { dbConfig: { type: 'postgres', url: `postgres://root:${SECRET}@host:port/db` } },
      ['dbConfig', 'check its host and port'],
    ),
    wrong(
      'a URL whose password is not percent-encoded',
      { dbConfig: { type: 'mariadb', url: `mysql://root:${SECRET}%ZZ@host/db` } },
      ['dbConfig', 'percent-encode'],
    ),
    wrong('options of TypeORM at the top', { password: SECRET, url: URL_WITH_SECRET }, ['is not an option']),
    wrong(
      'a database for a worker id given by hand',
      { workerIdAssigner: 'static', workerId: 3, dbConfig: URL_WITH_SECRET },
      ['dbConfig', "workerIdAssigner: 'database' and 'disposable' only"],
    ),
  ];
}

/** No DataSource, or one too many services. */
export function wrongImports(database: () => DataSourceOptions): FailingStart[] {
  return [
    {
      title: 'no TypeORM at all',
      imports: () => [RaindropModule.forRoot(OPTIONS)],
      errorCode: 'CONFIGURATION',
      says: ['dbConfig', 'TypeOrmModule.forRoot', 'dataSource'],
    },
    {
      title: 'a DataSource by a name that none has',
      imports: () => [
        typeorm(database(), 'orders'),
        RaindropModule.forRoot({ ...OPTIONS, dataSource: ['orders', 'oders'] }),
      ],
      errorCode: 'CONFIGURATION',
      says: ['dataSource = "oders"', "TypeOrmModule.forRoot({ name: 'oders'"],
    },
    {
      title: 'two services without a name',
      imports: () => [typeorm(database()), RaindropModule.forRoot(OPTIONS), RaindropModule.forRoot(OPTIONS)],
      errorCode: 'CONFIGURATION',
      says: ['name = "default"', 'registered 2 times', 'isGlobal: false'],
    },
    {
      title: 'two services of one name, without a database',
      imports: () =>
        [3, 4].map((workerId) =>
          RaindropModule.forRoot({ ...OPTIONS, name: 'orders', workerIdAssigner: 'static', workerId }),
        ),
      errorCode: 'CONFIGURATION',
      says: ['name = "orders"', 'registered 2 times'],
    },
  ];
}

/** What a server refuses, or does not answer. `limited` may read `admin`'s database and nothing more. */
export function serverTrouble(database: () => { admin: ServerOptions; limited: ServerOptions }): FailingStart[] {
  const dbConfig = (title: string, config: () => ServerOptions, rest: Omit<FailingStart, 'title' | 'imports'>) => ({
    title,
    imports: () => [RaindropModule.forRoot({ ...OPTIONS, dbConfig: config() })],
    ...rest,
  });
  const refused = (title: string, config: () => ServerOptions, ...says: string[]): FailingStart =>
    dbConfig(title, config, { errorCode: 'DATABASE_REFUSED', says: ['dbConfig', ...says], retryable: false });
  return [
    refused(
      'an account that the server does not know',
      () => ({ ...database().admin, username: 'raindrop_nobody', password: SECRET }),
      ...['raindrop_nobody', 'Check user and password in dbConfig'],
    ),
    refused(
      'a database that does not exist',
      () => ({ ...database().admin, database: 'raindrop_nowhere' }),
      ...['raindrop_nowhere', 'Create the missing object'],
    ),
    dbConfig('an account that may create no tables', () => database().limited, {
      errorCode: 'TABLE_MISSING',
      says: ['may not create', 'workerTableSql()'],
      retryable: false,
    }),
    dbConfig('a server that is down', () => ({ ...database().limited, port: 1 }), {
      errorCode: 'STORE_UNAVAILABLE',
      says: ['is unavailable', 'ECONNREFUSED'],
      retryable: true,
    }),
    {
      title: "the application's own server down, through TypeORM's retries",
      imports: () => [
        TypeOrmModule.forRoot({ ...database().limited, port: 1, retryAttempts: 3, retryDelay: 1 }),
        RaindropModule.forRoot(OPTIONS),
      ],
      errorCode: '',
      says: ['ECONNREFUSED'],
    },
  ];
}
