import { unusedRow, writtenRow, type WorkerRow, type WorkerWrite } from '@raindrop/core';
import { CorruptWorkerKeyError, NO_FENCES, recordOf, rowOfRecord } from './key-values/worker-record.js';
import { endOfWorkerText, readWorkerText } from './redis/worker-store/worker-text.js';
import { decodeWorkers, encodeWorkers } from './state-file/file-worker-store.js';

const NOW = 1_700_000_000_500;

const WRITE: WorkerWrite = {
  id: 3,
  expected: { version: 6, token: 'b' },
  token: 'a1',
  holder: 'host/42',
  layout: '1000@0:t41.w22',
  lane: 1,
  odometers: [
    { ms: 1_700_000_000_000, sequence: 17 },
    { ms: 1_700_000_065_000, sequence: -1 },
  ],
  code: 'orders',
  timeUnit: 2,
  leaseMs: 60_000,
};

const ROW = writtenRow({ ...unusedRow(3), version: 6, ownVersion: 6, token: 'b' }, WRITE, NOW)!;

/** These texts stand in users' stores: a release that changes one of them no longer reads the rows of those before it. */
const IN_REDIS =
  '7\n7\na1\n1000@0:t41.w22\n1700000060500\n1700000000500\n1\n1700000000000\n17\n1700000065000\n-1\n2\norders\nhost/42';
const IN_KEYS =
  '{"id":3,"version":7,"ownVersion":7,"token":"a1","holder":"host/42","layout":"1000@0:t41.w22",' +
  '"leaseUntilMs":1700000060500,"lane":1,"odometers":[{"ms":1700000000000,"sequence":17},' +
  '{"ms":1700000065000,"sequence":-1}],"code":"orders","heartbeatMs":1700000000500,"fences":0}';
const IN_FILE =
  'raindrop-workers 1 19eaee5bf22a293870854550d57ec68f465229629aeec59f3bf9c12264045d64\n' +
  '{"unused":[{"min":1,"max":2}],"rows":[{"id":3,"version":7,"ownVersion":7,"token":"a1","holder":"host/42",' +
  '"layout":"1000@0:t41.w22","lane":1,"odometers":[{"ms":1700000000000,"sequence":17},' +
  '{"ms":1700000065000,"sequence":-1}],"code":"orders","leaseUntilMs":1700000060500,"heartbeatMs":1700000000500}],' +
  '"deleted":[{"id":4,"version":0,"ownVersion":0,"token":"","holder":"","layout":"","leaseUntilMs":0,"lane":0,' +
  '"odometers":[{"ms":0,"sequence":-1},{"ms":0,"sequence":-1}],"code":"","heartbeatMs":0}],' +
  '"layouts":["1000@0:t41.w22"]}\n';

describe('A row that an earlier release has stored', () => {
  it('is the same in Redis', () => {
    const { version, token, layout, leaseUntilMs, heartbeatMs } = ROW;
    const written = [version, version, token, layout, leaseUntilMs, heartbeatMs, endOfWorkerText(WRITE)].join('\n');
    expect(written).toBe(IN_REDIS);
    expect(readWorkerText('key', '3', IN_REDIS, 0)).toEqual(ROW);
  });

  it('is the same in a key of etcd or NATS', () => {
    expect(recordOf(ROW, 0)).toBe(IN_KEYS);
    expect(rowOfRecord('key', IN_KEYS, NO_FENCES)).toEqual(ROW);
  });

  it('is the same in a state file', () => {
    const table = decodeWorkers(IN_FILE);
    expect([...table.rows.values()]).toEqual([unusedRow(1), unusedRow(2), ROW]);
    expect([...table.deleted.values()]).toEqual([unusedRow(4)]);
    expect(encodeWorkers(table)).toBe(IN_FILE);
  });
});

it.each<[string, Partial<Record<keyof WorkerRow | 'fences', unknown>>]>([
  ['no text', { holder: 5 }],
  ['a number as text', { version: '7' }],
  ['a fraction', { leaseUntilMs: 1.5 }],
  ['2^53', { heartbeatMs: 2 ** 53 }],
  ['a third lane', { lane: 2 }],
  ['one odometer', { odometers: [{ ms: 1, sequence: 2 }] }],
  ['half an odometer', { odometers: [{ ms: 1, sequence: 2 }, { ms: 1 }] }],
  ['no object for an odometer', { odometers: [{ ms: 1, sequence: 2 }, null] }],
  ['no count of fences', { fences: null }],
])('A key of a worker is refused when it has %s', (_, change) => {
  const text = JSON.stringify({ ...(JSON.parse(IN_KEYS) as object), ...change });
  expect(() => rowOfRecord('row/3', text, NO_FENCES)).toThrow(CorruptWorkerKeyError);
});
