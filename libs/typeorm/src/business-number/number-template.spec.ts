import fc from 'fast-check';
import { InvalidNumberTemplateError } from './business-number-errors.js';
import { parseTemplate } from './business-number-options.js';

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
    ['A{YYYY}{seq}', 1, '{YYYY} is no token'],
    ['A{mm}{seq}', 1, '{mm} is no token'],
    ['{seq:0}', 0, '{seq:0} is no token'],
    ['{seq:19}', 0, '{seq:19} is no token'],
    ['{seq:06}', 0, '{seq:06} is no token'],
    ['{toString}{seq}', 0, '{toString} is no token'],
    ['{}{seq}', 0, '{} is no token'],
    ['{seq}}', 5, 'a brace stands alone'],
    ['a{b{seq}', 1, 'a brace stands alone'],
    ['', 0, '1 to 128 characters'],
    [`${'x'.repeat(124)}{seq}`, 0, '1 to 128 characters'],
    ['{seq} ', 0, 'spaces at either end'],
    ['A\u0000{seq}', 1, 'control characters'],
    ['A\ud800{seq}', 1, 'half surrogate pairs'],
    [7 as unknown as string, 0, 'it is no string'],
    [7n as unknown as string, 0, 'it is no string'],
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
