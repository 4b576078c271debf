import { OptionReader } from '../config/option-reader.js';
import { type Field, Layout } from './layout.js';
import { reportOutsideLife } from './layout-options.js';

const fields: readonly Field[] = [
  { name: 'time', role: 'time', bits: 10 },
  { name: 'sequence', role: 'sequence', bits: 10 },
];
const layout = new Layout({ fields, unitMs: 1_000, epochMs: Date.parse('2026-01-01T00:00:00.500Z') });

function problemsAt(now: string): readonly object[] {
  const reader = new OptionReader({});
  reportOutsideLife(reader, 'layout', layout, Date.parse(now));
  return reader.problems;
}

describe('A layout', () => {
  it.each(['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.500Z', '2026-01-01T00:17:03.999Z'])(
    'that can issue is let through: %s',
    (now) => expect(problemsAt(now)).toEqual([]),
  );

  it('before its epoch is refused', () => {
    expect(problemsAt('2025-12-31T23:59:59.999Z')).toEqual([
      {
        option: 'layout',
        given: '"1000@1767225600:t10.s10"',
        message: 'issues nothing before its epoch, 2026-01-01T00:00:00.500Z: take a startTimeStamp of the past',
      },
    ]);
  });

  it('that has expired is refused', () => {
    expect(problemsAt('2026-01-01T00:17:04.000Z')).toEqual([
      {
        option: 'layout',
        given: '"1000@1767225600:t10.s10"',
        message:
          'has expired at 2026-01-01T00:17:04.000Z and only reads: for new data take a later startTimeStamp or more ' +
          'timestamp bits, and keep this layout for parseId()',
      },
    ]);
  });
});
