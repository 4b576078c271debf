import { ConfigurationError, createLayout, presets } from '@raindrop/core';
import { firstOf } from './assigner-options.js';
import { resolveSnowflakeOptions } from './resolve-options.js';
import type { SnowflakeModuleOptions } from './service-options.js';

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
    assigner: { parts: [{ use: 'database', workers: { min: 1, max: 1_023 } }], stateFile: undefined, borrowMs: 1_000 },
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
  [{ dbConfig: 'mysql://root:%ZZ@host/db' }, 'dbConfig', 'percent-encode'],
  [{ dbConfig: { type: 'postgres', host: { name: 'a' } } }, 'dbConfig', 'host must be a string'],
  [{ dbConfig: { type: 'mysql', password: 7 } }, 'dbConfig', 'password must be a string'],
  [{ dbConfig: { type: 'mysql', port: 'x' } }, 'dbConfig', 'port must be a number from 1 to 65535'],
  [{ dbConfig: new URL('mysql://root:secret@host/db') }, 'dbConfig', 'dataSourceDatabase(options)'],
  [{ servicePort: 65_536 }, 'servicePort', '65535'],
  [{ hashCode: 'yes' }, 'hashCode', 'true or false'],
  [{ clock: 'fast' }, 'clock', "'turn', 'exact'"],
  [{ foreignTimeZone: 'Asia/Shanghai' }, 'foreignTimeZone', '+08:00'],
  [{ idMode: 'both' }, 'idMode', 'snowflake'],
  [{ idMode: 'segments' }, 'idMode', 'snowflake'],
  [{ workerIdAssigner: 'zookeeper' }, 'workerIdAssigner', "'database', 'static'"],
  [{ workerIdAssigner: 'static', workerId: 0 }, 'workerId', 'from 1 to 1023'],
  [{ workerId: 4 }, 'workerId', 'static'],
  [
    { workerIdAssigner: 'static', workerId: 4, dbConfig: 'mysql://root:x@host/db' },
    'dbConfig',
    "'database' and 'disposable' only",
  ],
  [{ workerIdAssigner: 'static', workerId: 4, tableName: 'workers' }, 'tableName', "'database' and 'disposable' only"],
  [{ workerIdAssigner: null }, 'workerIdAssigner', 'firstOf'],
  [{ workerIdAssigner: { url: 'redis://geheim' } }, 'workerIdAssigner', 'acquire()'],
  [{ workerIdAssigner: class {} }, 'workerIdAssigner', 'acquire()'],
  [{ workerIdAssigner: () => 7 }, 'workerIdAssigner', 'acquire()'],
  [{ workerIdAssigner: 'disposable' }, 'workerIdAssigner', '17 worker bits'],
  [{ workerIdAssigner: 'static', leaseMs: 30_000 }, 'leaseMs', 'leased worker ids only'],
  [{ stateFile: '/tmp/state' }, 'stateFile', 'without a record of issued IDs'],
  [{ restartWaitMs: 5 }, 'restartWaitMs', 'without a record of issued IDs'],
  [{ workerIdAssigner: 'static', stateFile: '' }, 'stateFile', 'a path'],
  [{ workerIdAssigner: 'static', restartWaitMs: -1 }, 'restartWaitMs', 'or false'],
  [{ workerIdAssigner: 'static', restartWaitMs: 999 }, 'restartWaitMs', 'ahead of the clock, 1000 ms'],
  [{ workerIdAssigner: 'machine', stateFile: '/tmp/state' }, 'stateFile', 'changes at each start'],
  [{ workerIdAssigner: 'static', restartWaitMs: true }, 'restartWaitMs', 'or false'],
  [{ workerIdAssigner: 'static', timeUnit: 'hour', timeStampLength: 30 }, 'restartWaitMs', 'required'],
  [{ workerIdAssigner: firstOf([]) }, 'workerIdAssigner', 'at least one'],
  [{ workerIdAssigner: firstOf(['static'] as never) }, 'workerIdAssigner.firstOf[0]', '{ use, workers'],
  [{ workerIdAssigner: firstOf([{ use: 'static' }] as never) }, 'workerIdAssigner.firstOf[0].workers', '1..1023'],
  [
    { workerIdAssigner: firstOf([{ use: 'static', workers: { min: 0, max: 1_024 } }]) },
    'workerIdAssigner.firstOf[0].workers.min,workerIdAssigner.firstOf[0].workers.max',
    'from 1 to 1023',
  ],
  [
    {
      workerIdAssigner: firstOf([
        { use: 'static', workers: { min: 1, max: 10 } },
        { use: 'ip', workers: { min: 10, max: 1_023 } },
      ]),
    },
    'workerIdAssigner.firstOf[1].workers',
    'overlaps with workerIdAssigner.firstOf[0]',
  ],
  [
    {
      workerIdAssigner: firstOf([
        { use: 'database', workers: { min: 1, max: 10 } },
        { use: 'ip', workers: { min: 11, max: 1_023 } },
      ]),
    },
    'workerIdAssigner.firstOf[0]',
    'must be last',
  ],
  [{ layout: {} }, 'layout', 'createLayout()'],
  [{ layout: presets.uidGenerator() }, 'layout', 'expired at 2024-11-20'],
  [{ layout: presets.twitter({ startTimeStamp: '2030-01-01' }) }, 'layout', 'issues no IDs before its epoch'],
  [{ tabelName: 'x' }, 'tabelName', 'did you mean tableName?'],
])('refuses %j alone, by name, and says what is legal', (options, option, says) => {
  const problems = problemsOf(options).filter((each) => !('layout' in options) || each.option === 'layout');
  expect(problems.map((each) => each.option).join()).toBe(option);
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

it('does not show what an assigner holds', () => {
  expect(JSON.stringify(problemsOf({ workerIdAssigner: { url: 'redis://geheim' } }))).not.toContain('geheim');
});

it('waits by default for what can be borrowed ahead of the clock', () => {
  const wait = (options: object): number => resolveSnowflakeOptions({ ...GOOD, ...options }, NOW).assigner.borrowMs;
  expect(wait({})).toBe(1_000);
  expect(wait({ onExhausted: 'wait' })).toBe(0);
  expect(wait({ timeUnit: 'millisecond', timeStampLength: 41 })).toBe(5);
  expect(wait({ timeUnit: 'millisecond', timeStampLength: 41, maxAheadMs: 0 })).toBe(1);
  expect(wait({ timeUnit: 'minute', timeStampLength: 30 })).toBe(0);
});

it.each([
  [undefined, 1_023],
  ['database', 1_023],
  ['disposable', 4_194_303],
  ['ip', 4_194_303],
] as const)('leaves %p of a wide layout the worker ids up to %d', (workerIdAssigner, max) => {
  const layout = presets.uidGenerator({ startTimeStamp: '2026-01-01' });
  const options = { layout, ...(workerIdAssigner !== undefined && { workerIdAssigner }) };
  expect(resolveSnowflakeOptions(options, NOW).layout.workers).toEqual({ min: 1, max });
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
