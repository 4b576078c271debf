import { RaindropError } from '../raindrop-error.js';
import {
  ClockSkewError,
  ClosedError,
  DatabaseRegressionError,
  LayoutConflictError,
  LeaseLostError,
  LeaseSuspectError,
  NoFreeWorkerError,
  NotReadyError,
  StoreUnavailableError,
  type WorkerCensus,
} from './lease-errors.js';
import { UnclearLayoutError, type RememberedLayout } from './layout-choice.js';

const CENSUS: WorkerCensus = {
  total: 9,
  live: 4,
  foreign: 3,
  ahead: 2,
  contended: 1,
  freeAtMs: Date.UTC(2026, 2, 1, 12),
};

const CONFLICTS = [
  { layout: 'theirs', workerIds: [3, 8] },
  { layout: 'an old one', workerIds: [] },
];

const REMEMBERED: readonly RememberedLayout[] = [
  { fingerprint: 'one', description: 'ticks', workerIds: [3, 8], lastUsed: undefined },
  { fingerprint: 'other', description: undefined, workerIds: [], lastUsed: new Date(Date.UTC(2026, 2, 1, 12)) },
];

const cause = new Error('connect ECONNREFUSED');

interface Expected {
  readonly error: RaindropError;
  readonly name: string;
  readonly errorCode: string;
  readonly retryable: boolean;
  readonly fields: object;
  /** What happened, and what to do. */
  readonly says: readonly string[];
}

const ERRORS: readonly Expected[] = [
  {
    error: new NotReadyError('none has been acquired'),
    name: 'NotReadyError',
    errorCode: 'NOT_READY',
    retryable: true,
    fields: { reason: 'none has been acquired' },
    says: ['none has been acquired', 'Use an async call to wait', 'after the application has started'],
  },
  {
    error: new LeaseLostError(5, 'its row was deleted'),
    name: 'LeaseLostError',
    errorCode: 'LEASE_LOST',
    retryable: true,
    fields: { workerId: 5, reason: 'its row was deleted' },
    says: ['Worker 5', 'its row was deleted', 'recovers when it can reach the worker table'],
  },
  {
    error: new LeaseSuspectError(6, 'the clock jumped forward by 99 ms'),
    name: 'LeaseSuspectError',
    errorCode: 'LEASE_SUSPECT',
    retryable: true,
    fields: { workerId: 6, reason: 'the clock jumped forward by 99 ms' },
    says: ['Worker 6', 'the clock jumped forward by 99 ms', 'must confirm its lease'],
  },
  {
    error: new ClosedError(),
    name: 'ClosedError',
    errorCode: 'CLOSED',
    retryable: false,
    fields: {},
    says: ['is closed', 'released its resources', 'issues no more IDs'],
  },
  {
    error: new ClockSkewError(31_000, 30_000),
    name: 'ClockSkewError',
    errorCode: 'CLOCK_SKEW',
    retryable: true,
    fields: { skewMs: 31_000, maxClockSkewMs: 30_000 },
    says: ['31000 ms ahead of', 'maxClockSkewMs (30000)', 'synchronise both with NTP'],
  },
  {
    error: new ClockSkewError(-31_000, 30_000),
    name: 'ClockSkewError',
    errorCode: 'CLOCK_SKEW',
    retryable: true,
    fields: { skewMs: -31_000 },
    says: [' 31000 ms behind', 'NTP'],
  },
  {
    error: new NoFreeWorkerError(CENSUS),
    name: 'NoFreeWorkerError',
    errorCode: 'NO_FREE_WORKER',
    retryable: true,
    fields: { census: CENSUS },
    says: [
      'among 9',
      '4 held',
      '3 in use by another program',
      '2 reserved into the future',
      '1 taken meanwhile',
      'at 2026-03-01T12:00:00.000Z',
      'Widen serviceMinWorkId..serviceMaxWorkId (to twice the number of nodes)',
      'waitForWorkerMs',
    ],
  },
  {
    error: new LayoutConflictError('mine', CONFLICTS),
    name: 'LayoutConflictError',
    errorCode: 'LAYOUT_CONFLICT',
    retryable: false,
    fields: { layout: 'mine', conflicts: CONFLICTS },
    says: [
      'Layout mine',
      'theirs (held by workers 3, 8)',
      'an old one (former)',
      'endBitsValue',
      'another tableName',
      'stop the old processes first',
    ],
  },
  {
    error: new LayoutConflictError(
      'mine',
      [{ layout: 'an old one', workerIds: [] }],
      Date.parse('2026-03-01T12:00:05Z'),
    ),
    name: 'LayoutConflictError',
    errorCode: 'LAYOUT_CONFLICT',
    retryable: true,
    fields: { clearsAtMs: Date.parse('2026-03-01T12:00:05Z') },
    says: ['an old one (former)', "From 2026-03-01T12:00:05.000Z on, this layout's are."],
  },
  {
    error: new UnclearLayoutError('two may still be in use', REMEMBERED),
    name: 'UnclearLayoutError',
    errorCode: 'UNCLEAR_LAYOUT',
    retryable: false,
    fields: { reason: 'two may still be in use', layouts: REMEMBERED },
    says: [
      'The options name no layout, and two may still be in use:\n',
      '- one: ticks; in use by workers 3, 8\n',
      '- other: a layout that this release cannot read; last used at 2026-03-01T12:00:00.000Z\n',
      'startTimeStamp, timeUnit, timeStampLength, workIdLength, endBitsLength and endBitsValue',
    ],
  },
  {
    error: new UnclearLayoutError('its store is empty'),
    name: 'UnclearLayoutError',
    errorCode: 'UNCLEAR_LAYOUT',
    retryable: false,
    fields: { layouts: [] },
    says: ['The options name no layout, and its store is empty. Set the options'],
  },
  {
    error: new DatabaseRegressionError(7, 41, 39),
    name: 'DatabaseRegressionError',
    errorCode: 'DATABASE_REGRESSION',
    retryable: true,
    fields: { workerId: 7, expectedVersion: 41, foundVersion: 39 },
    says: ['worker 7 is at version 39, but 41 was acknowledged', "Check the database's durability settings"],
  },
  {
    error: new StoreUnavailableError('reading the workers', cause),
    name: 'StoreUnavailableError',
    errorCode: 'STORE_UNAVAILABLE',
    retryable: true,
    fields: { cause },
    says: ['is unavailable', 'reading the workers', 'connect ECONNREFUSED'],
  },
];

describe('the errors of the lease', () => {
  it.each(ERRORS)('$name has a stable code, its fields and advice', (expected) => {
    const { error, name, errorCode, retryable, fields, says } = expected;
    expect(error).toBeInstanceOf(RaindropError);
    expect(error).toBeInstanceOf(Error);
    expect({ name: error.name, errorCode: error.errorCode, retryable: error.retryable }).toEqual({
      name,
      errorCode,
      retryable,
    });
    expect(error).toMatchObject(fields);
    for (const text of says) expect(error.message).toContain(text);
    expect(error.message).not.toMatch(/undefined|NaN|\[object/);
    expect(error.stack).toContain(name);
  });

  it('have codes of their own', () => {
    const codes = new Map(ERRORS.map(({ name, errorCode }) => [name, errorCode]));
    expect(new Set(codes.values()).size).toBe(codes.size);
  });

  it('name no time when no living lease will end', () => {
    const { message } = new NoFreeWorkerError({ ...CENSUS, live: 0, freeAtMs: undefined });
    expect(message).not.toContain('The next may be free');
    expect(message).toContain('0 held');
  });

  it.each([
    ['a text', 'a text'],
    [undefined, 'undefined'],
    [{ code: 5 }, '[object Object]'],
  ])('tell what a store threw, even if it is %p', (thrown: unknown, shown) => {
    expect(new StoreUnavailableError('reading', thrown).message).toContain(`(reading): ${shown}`);
  });
});
