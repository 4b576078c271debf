import type { CallOf } from './missing-numbers.js';
import { inferHistory } from './inferred-history.js';
import type { Interval } from './intervals.js';
import type { ProcessRecord, RecordedCall } from './process-record.js';

const [one, two] = ['1-1', '2-1'].map((name) => ({ name }) as ProcessRecord) as [ProcessRecord, ProcessRecord];

function call(process: ProcessRecord, at: number, about: Partial<RecordedCall>): CallOf {
  const { call: kind = 'reserve', count = null, unused, outcome, segment } = about;
  return [process, { level: 'row', key: 'order', call: kind, at, count, unused, outcome, segment, endedAt: at + 1 }];
}

const told = (process: ProcessRecord, at: number, segment: Interval): CallOf =>
  call(process, at, { outcome: 'reserved', segment });
const gaveBack = (process: ProcessRecord, at: number, unused: Interval): CallOf =>
  call(process, at, { call: 'giveBack', outcome: 'returned', unused });
const unanswered = (process: ProcessRecord, at: number, count: number): CallOf =>
  call(process, at, { count, outcome: 'failed' });

describe('What a row went through, where only processes tell', () => {
  it('has the calls without an answer in the gaps', () => {
    const rows = [told(one, 1, { first: 1, last: 10 }), unanswered(two, 3, 5), told(one, 5, { first: 16, last: 25 })];
    expect(inferHistory(25, rows).changes).toContainEqual({ before: 10, after: 15 });
  });

  it('lets such a call begin with what was given back before', () => {
    const rows = [
      told(one, 1, { first: 1, last: 10 }),
      gaveBack(one, 3, { first: 7, last: 10 }),
      unanswered(two, 5, 100),
      told(two, 7, { first: 107, last: 116 }),
    ];
    expect(inferHistory(116, rows).changes).toContainEqual({ before: 6, after: 106 });
  });

  it('knows what was given back and reserved again', () => {
    const rows = [
      told(one, 1, { first: 1, last: 10 }),
      gaveBack(one, 3, { first: 7, last: 10 }),
      told(one, 5, { first: 7, last: 16 }),
    ];
    expect(inferHistory(16, rows).changes).toEqual([
      { before: 0, after: 10 },
      { before: 6, after: 16 },
      { before: 10, after: 6 },
    ]);
  });
});
