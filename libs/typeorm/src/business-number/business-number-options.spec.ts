import fc from 'fast-check';
import { ConfigurationError } from '@raindrop/core';
import { type BusinessNumberOptions, parseTemplate, readNumberRequest } from './business-number-options.js';
import { InvalidNumberTemplateError } from './business-number-errors.js';

const DAILY = '{yyyy}{MM}{dd}-{seq}';

function periodOf(at: string, timeZone: string, resetBy: BusinessNumberOptions['resetBy'] = 'day'): string {
  return readNumberRequest(DAILY, { at: new Date(at), timeZone, resetBy }).key.period;
}

describe('the period of a number', () => {
  it.each([
    // Winter, UTC-5; the change to summer time on 8 March 2026; summer, UTC-4; the change back on 1 November.
    ['America/New_York', '2026-01-02T04:59:59.999Z', '2026-01-01'],
    ['America/New_York', '2026-01-02T05:00:00.000Z', '2026-01-02'],
    ['America/New_York', '2026-03-08T04:59:59.999Z', '2026-03-07'],
    ['America/New_York', '2026-03-08T05:00:00.000Z', '2026-03-08'],
    ['America/New_York', '2026-03-09T03:59:59.999Z', '2026-03-08'],
    ['America/New_York', '2026-03-09T04:00:00.000Z', '2026-03-09'],
    ['America/New_York', '2026-11-01T03:59:59.999Z', '2026-10-31'],
    ['America/New_York', '2026-11-02T04:59:59.999Z', '2026-11-01'],
    ['America/New_York', '2026-11-02T05:00:00.000Z', '2026-11-02'],
    ['Asia/Kolkata', '2026-03-31T18:29:59.999Z', '2026-03-31'],
    ['Asia/Kolkata', '2026-03-31T18:30:00.000Z', '2026-04-01'],
    // UTC+13; 30 December 2011 did not exist there.
    ['Pacific/Apia', '2026-12-31T10:59:59.999Z', '2026-12-31'],
    ['Pacific/Apia', '2026-12-31T11:00:00.000Z', '2027-01-01'],
    ['Pacific/Apia', '2011-12-30T09:59:59.999Z', '2011-12-29'],
    ['Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-31'],
    // Midnight itself is skipped there: the day begins at one.
    ['Africa/Cairo', '2026-04-23T21:59:59.999Z', '2026-04-23'],
    ['Africa/Cairo', '2026-04-23T22:00:00.000Z', '2026-04-24'],
  ])('ends at midnight in %s: %s is in %s', (timeZone, at, day) => {
    expect(periodOf(at, timeZone)).toBe(day);
    expect(periodOf(at, timeZone, 'month')).toBe(day.slice(0, 7));
    expect(periodOf(at, timeZone, 'year')).toBe(day.slice(0, 4));
    expect(periodOf(at, timeZone, 'never')).toBe('');
  });

  it('is of UTC and of now when nothing is said', () => {
    const before = new Date().toISOString().slice(0, 10);
    const { period } = readNumberRequest(DAILY, { resetBy: 'day' }).key;
    expect([before, new Date().toISOString().slice(0, 10)]).toContain(period);
  });

  it('goes forward with time in every zone', () => {
    const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const time = fc.integer({ min: Date.UTC(1970, 0, 2), max: Date.UTC(2100, 0, 1) });
    fc.assert(
      fc.property(zone, time, fc.integer({ min: 0, max: 40 * 86_400_000 }), (timeZone, ms, later) => {
        const [a, b] = [ms, ms + later].map((each) => periodOf(new Date(each).toISOString(), timeZone));
        expect(a! <= b!).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('shows in the number', () => {
    const request = readNumberRequest(DAILY, { at: new Date('2026-12-31T11:00:00Z'), timeZone: 'Pacific/Apia' });
    expect(request.textOf(7n)).toBe('20270101-7');
  });
});

describe('the key of a number', () => {
  it('is the template, unless the series has a name', () => {
    expect(readNumberRequest('A-{seq}', {}).key).toEqual({ series: 'A-{seq}', per: '', period: '' });
    expect(readNumberRequest('A-{seq}', { name: 'invoices', per: 'acme' }).key).toEqual({
      series: 'invoices',
      per: 'acme',
      period: '',
    });
  });
});

describe('options that are refused', () => {
  it.each<[string, string, Record<string, unknown>, string]>([
    ['resetBy', '{seq}', { resetBy: 'year' }, 'needs {yyyy} or {yy} in the template'],
    ['resetBy', '{yyyy}-{seq}', { resetBy: 'month' }, 'needs {MM} in the template'],
    ['resetBy', '{MM}-{seq}', { resetBy: 'month' }, 'needs {yyyy} or {yy} in the template'],
    ['resetBy', '{yy}{MM}-{seq}', { resetBy: 'day' }, 'needs {dd} in the template'],
    ['resetBy', '{seq}', { resetBy: 'day' }, 'needs {yyyy} or {yy} and {MM} and {dd} in the template'],
    ['resetBy', '{seq}', { resetBy: 'week' }, "must be one of 'never', 'year', 'month', 'day'"],
    ['resetBy', '{seq}', { resetBy: 'toString' }, 'must be one of'],
    ['per', '{seq}', { per: '' }, '1 to 64 characters'],
    ['per', '{seq}', { per: 'x'.repeat(65) }, '1 to 64 characters'],
    ['per', '{seq}', { per: 'acme ' }, 'without spaces at either end'],
    ['per', '{seq}', { per: 7 }, '1 to 64 characters'],
    ['name', '{seq}', { name: 'a\nb' }, 'without control characters'],
    ['name', '{seq}', { name: 'x'.repeat(129) }, '1 to 128 characters'],
    ['timeZone', '{seq}', { timeZone: 'Europe/Nowhere' }, 'the IANA name of a time zone'],
    ['timeZone', '{seq}', { timeZone: '' }, 'the IANA name of a time zone'],
    ['timeZone', '{seq}', { timeZone: 2 }, 'the IANA name of a time zone'],
    ['at', '{seq}', { at: new Date(Number.NaN) }, 'must be a Date'],
    ['at', '{seq}', { at: Date.now() }, 'must be a Date'],
    ['at', '{seq}', { at: new Date('1969-12-31T23:59:59Z') }, 'of the years 1970 to 9998'],
    ['at', '{yy}-{seq}', { at: new Date('2100-01-01'), resetBy: 'year' }, 'use {yyyy}'],
    ['start', '{seq}', { start: 0 }, 'from 1 to 9223372036854775807'],
    ['start', '{seq:2}', { start: 100 }, 'from 1 to 99'],
    ['start', '{seq}', { start: 1.5 }, 'an integer or a bigint'],
    ['start', '{seq}', { start: 2 ** 53 }, 'an integer or a bigint'],
    ['start', '{seq}', { start: 2n ** 63n }, 'an integer or a bigint'],
    ['reset', '{seq}', { reset: 'year' }, 'is not an option'],
  ])('%s of %s with %p', (option, template, options, message) => {
    let error: unknown;
    try {
      readNumberRequest(template, options);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    const { problems } = error as ConfigurationError;
    expect(problems.map((problem) => problem.option)).toEqual([option]);
    expect(problems[0]!.message).toContain(message);
  });

  it('are reported together', () => {
    expect(() => readNumberRequest('{seq}', { per: '', start: -1, timeZone: 'x' })).toThrow(
      /per = [^]*timeZone = [^]*start = /,
    );
  });
});

const DATE = { year: '2026', month: '03', day: '09' };

describe('parseTemplate', () => {
  it.each([
    ['INV-{yyyy}-{seq:6}', 'INV-2026-000042'],
    ['{yy}{MM}{dd}{seq}', '26030942'],
    ['{seq:2}', '42'],
    ['{yyyy}/{yyyy}/{seq:3}', '2026/2026/042'],
    ['發票 {seq:4} 號', '發票 0042 號'],
  ])('reads %s', (template, text) => {
    expect(parseTemplate(template).format(DATE, 42n)).toBe(text);
  });

  it('knows the last number that fits', () => {
    expect(parseTemplate('{seq:1}').last).toBe(9n);
    expect(parseTemplate('{seq:18}').last).toBe(999_999_999_999_999_999n);
    expect(parseTemplate('{seq}').last).toBe(2n ** 63n - 1n);
  });

  it.each([
    ['INV-{yyyy}', 10, 'there is no {seq}'],
    ['{seq}-{seq:3}', 6, 'a second {seq}'],
    ['A{YYYY}{seq}', 1, '{YYYY} is not a token'],
    ['A{mm}{seq}', 1, '{mm} is not a token'],
    ['{seq:0}', 0, '{seq:0} is not a token'],
    ['{seq:19}', 0, '{seq:19} is not a token'],
    ['{seq:06}', 0, '{seq:06} is not a token'],
    ['{toString}{seq}', 0, '{toString} is not a token'],
    ['{}{seq}', 0, '{} is not a token'],
    ['{seq}}', 5, 'a brace is unmatched'],
    ['a{b{seq}', 1, 'a brace is unmatched'],
    ['', 0, '1 to 128 characters'],
    [`${'x'.repeat(124)}{seq}`, 0, '1 to 128 characters'],
    ['{seq} ', 0, 'spaces at either end'],
    ['A\u0000{seq}', 1, 'control characters'],
    ['A\ud800{seq}', 1, 'half surrogate pairs'],
    [7 as unknown as string, 0, 'it is not a string'],
    [7n as unknown as string, 0, 'it is not a string'],
  ])('refuses %p, and says where', (template, position, reason) => {
    const parse = (): unknown => parseTemplate(template);
    expect(parse).toThrow(InvalidNumberTemplateError);
    expect(parse).toThrow(reason);
    expect(parse).toThrow(expect.objectContaining({ position }) as Error);
  });

  it('gives different texts for different values, and for different dates that it shows', () => {
    const date = fc
      .date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
      .map((each) => {
        const [year, month, day] = each.toISOString().slice(0, 10).split('-');
        return { year: year!, month: month!, day: day! };
      });
    const literal = fc.constantFrom('', '0', '1', '9', '-', 'A', '20', '000');
    const token = fc.constantFrom('{yyyy}', '{yy}', '{MM}', '{dd}');
    const template = fc
      .tuple(
        fc.array(fc.tuple(literal, token), { maxLength: 4 }),
        literal,
        fc.integer({ min: 0, max: 18 }),
        fc.array(fc.tuple(token, literal), { maxLength: 4 }),
      )
      .map(([before, middle, width, after]) =>
        [before, middle, width === 0 ? '{seq}' : `{seq:${width}}`, after].flat(3).join(''),
      );
    fc.assert(
      fc.property(
        template,
        date,
        date,
        fc.bigInt(1n, 10n ** 18n),
        fc.bigInt(1n, 10n ** 18n),
        (text, d1, d2, v1, v2) => {
          const { format, last, shows } = parseTemplate(text);
          const [a, b] = [((v1 - 1n) % last) + 1n, ((v2 - 1n) % last) + 1n];
          const showsSame =
            (!(shows.has('yyyy') || shows.has('yy')) || d1.year === d2.year) &&
            (!shows.has('MM') || d1.month === d2.month) &&
            (!shows.has('dd') || d1.day === d2.day);
          expect(format(d1, a) === format(d2, b)).toBe(showsSame && a === b);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
