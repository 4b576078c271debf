import { ConfigurationError, createLayout } from '@raindrop/core';
import { resolveSnowflakeOptions, type SnowflakeModuleOptions } from './snowflake.options.js';

const NOW = Date.parse('2026-03-01');
const GOOD: SnowflakeModuleOptions = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10 };

function problemsOf(options: object): { option: string; message: string }[] {
  try {
    resolveSnowflakeOptions({ ...GOOD, ...options }, NOW);
    return [];
  } catch (error) {
    return [...(error as ConfigurationError).problems];
  }
}

it('fills in the defaults and freezes the result', () => {
  const resolved = resolveSnowflakeOptions(GOOD, NOW);
  expect(resolved).toMatchObject({
    staticWorkerId: undefined,
    servicePort: 0,
    tableName: 'soc_raindrop_worker',
    autoCreateTable: true,
    hashCode: false,
    foreignTimeZone: '+00:00',
    dbConfig: undefined,
    allowVolatile: false,
    clock: 'turn',
  });
  expect(Object.isFrozen(resolved)).toBe(true);
});

it.each([
  [{ logger: null }, 'logger', 'LoggerService'],
  [{ logger: { log: () => {} } }, 'logger', 'LoggerService'],
  [{ tableName: null }, 'tableName', "'table' or 'schema.table'"],
  [{ tableName: '1abc' }, 'tableName', 'not beginning with a digit'],
  [{ tableName: 'a.b.c' }, 'tableName', 'schema.table'],
  [{ tableName: 'x; DROP TABLE y' }, 'tableName', 'letters, digits and underscores'],
  [{ dbConfig: 'foo' }, 'dbConfig', 'mysql:'],
  [{ dbConfig: 'mysql://root:%ZZ@host/db' }, 'dbConfig', 'mysql:'],
  [{ dbConfig: new URL('mysql://root:secret@host/db') }, 'dbConfig', 'DataSourceOptions'],
  [{ servicePort: 65_536 }, 'servicePort', '65535'],
  [{ hashCode: 'yes' }, 'hashCode', 'true or false'],
  [{ clock: 'fast' }, 'clock', "'turn', 'exact'"],
  [{ foreignTimeZone: 'Asia/Shanghai' }, 'foreignTimeZone', '+08:00'],
  [{ idMode: 'both' }, 'idMode', 'snowflake'],
  [{ idMode: 'segments' }, 'idMode', 'snowflake'],
  [{ workerIdAssigner: 'zookeeper' }, 'workerIdAssigner', "'database', 'static'"],
  [{ workerIdAssigner: 'static' }, 'workerId', 'required'],
  [{ workerIdAssigner: 'static', workerId: 0 }, 'workerId', 'from 1 to 1023'],
  [{ workerId: 4 }, 'workerId', 'static'],
  [{ workerIdAssigner: 'static', workerId: 4, dbConfig: 'mysql://root:x@host/db' }, 'dbConfig', "'database' only"],
  [{ workerIdAssigner: 'static', workerId: 4, tableName: 'workers' }, 'tableName', "'database' only"],
  [{ name: 'orders' }, 'name', 'beside useFactory'],
  [{ isGlobal: false }, 'isGlobal', 'beside useFactory'],
  [{ dataSource: 'orders' }, 'dataSource', 'forRootAsync({ dataSource: ..., useFactory })'],
  [{ checkShutdownHooks: 'no' }, 'checkShutdownHooks', 'true or false'],
  [{ layout: {} }, 'layout', 'createLayout()'],
  [{ tabelName: 'x' }, 'tabelName', 'did you mean tableName?'],
])('refuses %j alone, by name, and says what is legal', (options, option, says) => {
  const problems = problemsOf(options).filter((each) => !('layout' in options) || each.option === 'layout');
  expect(problems.map((each) => each.option)).toEqual([option]);
  expect(problems[0]!.message).toContain(says);
});

it.each([undefined, null, 'mysql://root:geheim@host/db', 7, []])('refuses %j in place of options', (given) => {
  const failing = (): unknown => resolveSnowflakeOptions(given as never, NOW);
  expect(failing).toThrow(ConfigurationError);
  expect(failing).toThrow(/options = (?!.*geheim).*: must be an object/);
});

it('never shows a database URL', () => {
  const shown = JSON.stringify(
    problemsOf({ dbConfig: 'mongodb://root:geheim@host/db', url: 'mysql://root:geheim@host' }),
  );
  expect(shown).not.toContain('geheim');
});

it('accepts mode and assigner in any case', () => {
  expect(problemsOf({ idMode: 'SnowFlake', workerIdAssigner: 'DATABASE' })).toEqual([]);
});

it('takes a ready layout in place of the bit options, and not beside them', () => {
  const layout = createLayout(GOOD as never, NOW);
  expect(resolveSnowflakeOptions({ layout, serviceMaxWorkId: 9 }, NOW).layout).toMatchObject({
    layout,
    workers: { min: 1, max: 9 },
  });
  expect(problemsOf({ layout }).map((each) => each.option)).toEqual([
    'startTimeStamp',
    'timeStampLength',
    'workIdLength',
  ]);
});
