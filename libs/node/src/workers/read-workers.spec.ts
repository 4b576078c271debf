import type { WorkerRow } from '@raindrop/core';
import { describeWorker, type WorkerState } from './read-workers.js';

const NOW = Date.parse('2026-06-01');

const GRACE_MS = 10_000;

const PAST = { ms: NOW - 5_000, sequence: 7 };

const AHEAD = { ms: NOW + 5_000, sequence: 7 };

const UNUSED = { ms: 0, sequence: 0 };

const ROW: WorkerRow = {
  id: 3,
  version: 5,
  ownVersion: 5,
  token: 't',
  holder: 'host:1',
  layout: 's.0.w10.b1.q18.e1',
  leaseUntilMs: NOW + 4_000,
  lane: 0,
  odometers: [AHEAD, PAST],
  code: 'c',
  heartbeatMs: NOW - 1_000,
};

describe('describeWorker', () => {
  it.each<[string, Partial<WorkerRow>, WorkerState, number | null, number | null]>([
    ['a living lease', {}, 'held', 4_000, 14_000],
    ['a lease within its grace', { leaseUntilMs: NOW - 9_999 }, 'held', 0, 1],
    ['a lease whose grace is over', { leaseUntilMs: NOW - GRACE_MS }, 'expired', null, null],
    ['a row that was given back', { token: '' }, 'free', null, null],
    ['a row that was never used', { token: '', code: '', layout: '', odometers: [UNUSED, UNUSED] }, 'free', null, null],
    ['a row that another program wrote', { token: '', version: 6 }, 'foreign', null, null],
    ['a row that another program took from us', { version: 6 }, 'foreign', null, null],
    ['odometers ahead on both lanes', { token: '', odometers: [AHEAD, AHEAD] }, 'used-up', null, null],
    [
      'the only odometer ahead',
      { token: '', layout: 's.0.w10.q19', odometers: [AHEAD, UNUSED] },
      'used-up',
      null,
      null,
    ],
  ])('sees %s', (_, changed, state, leaseLeftMs, graceLeftMs) => {
    expect(describeWorker({ ...ROW, ...changed }, NOW, GRACE_MS)).toMatchObject({ state, leaseLeftMs, graceLeftMs });
  });

  it('shows all but the token, with times for people', () => {
    expect(describeWorker(ROW, NOW, GRACE_MS)).toEqual({
      workerId: 3,
      state: 'held',
      holder: 'host:1',
      leaseLeftMs: 4_000,
      graceLeftMs: 14_000,
      lane: 0,
      odometers: [
        { time: new Date(AHEAD.ms), sequence: 7 },
        { time: new Date(PAST.ms), sequence: 7 },
      ],
      layout: 's.0.w10.b1.q18.e1',
      heartbeat: new Date(NOW - 1_000),
    });
  });

  it('shows a deleted row as nothing else', () => {
    expect(describeWorker(ROW, NOW, GRACE_MS, true)).toMatchObject({ state: 'deleted', leaseLeftMs: null });
  });

  it('has no time for what never was, or lies beyond every Date', () => {
    const odometers = [UNUSED, { ms: 2 ** 53, sequence: 0 }] as const;
    const { heartbeat, odometers: shown } = describeWorker({ ...ROW, code: '', odometers }, NOW, GRACE_MS);
    expect({ heartbeat, times: shown.map(({ time }) => time) }).toEqual({ heartbeat: null, times: [null, null] });
  });
});
