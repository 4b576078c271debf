import { safeInteger } from '../database/sql-values.js';
import { CorruptWorkerRowError, readWorkerRow } from './worker-statements.js';

const RECORD = {
  id: '7',
  version: '12',
  own_version: 12,
  lease_until: 1_704_067_200_000n,
  lane: 1,
  odo0_ms: '9007199254740991',
  odo0_seq: -1,
  odo1_ms: '-5',
  odo1_seq: '0',
  code: 'c',
  token: 't',
  holder: 'h',
  layout: 'l',
  heartbeat_ms: '1672531200000',
};

describe('reading a worker row', () => {
  it('takes integers as strings, numbers or BigInts', () => {
    expect(readWorkerRow(RECORD)).toEqual({
      id: 7,
      version: 12,
      ownVersion: 12,
      token: 't',
      holder: 'h',
      layout: 'l',
      leaseUntilMs: 1_704_067_200_000,
      lane: 1,
      odometers: [
        { ms: Number.MAX_SAFE_INTEGER, sequence: -1 },
        { ms: -5, sequence: 0 },
      ],
      code: 'c',
      heartbeatMs: 1_672_531_200_000,
    });
  });

  it.each([
    ['odo1_ms', '9007199254740992'],
    ['odo0_ms', 2 ** 53],
    ['version', -(2n ** 63n)],
    ['version', null],
    ['lease_until', '1.5'],
    ['lease_until', ''],
    ['lease_until', '0x10'],
    ['lease_until', 1.5],
    ['heartbeat_ms', null],
    ['odo0_seq', Number.NaN],
    ['odo0_seq', true],
    ['lane', 2],
    ['token', null],
    ['holder', Buffer.from('h')],
  ])('refuses %s = %p and says where it is', (column, value) => {
    const read = (): unknown => readWorkerRow({ ...RECORD, [column]: value });
    expect(read).toThrow(CorruptWorkerRowError);
    expect(read).toThrow(new RegExp(`row 7, column ${column} is not `));
  });

  it('refuses a row without a readable id', () => {
    expect(() => readWorkerRow({ ...RECORD, id: '9'.repeat(19) })).toThrow(/row with an unreadable id, column id/);
  });

  it('does not round', () => {
    expect(safeInteger('9007199254740993')).toBeUndefined();
    expect(safeInteger(9_007_199_254_740_993n)).toBeUndefined();
  });
});
