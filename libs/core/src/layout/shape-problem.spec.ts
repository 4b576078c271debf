import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError } from '../config/option-reader.js';
import { type Field, type FieldRole, Layout, type LayoutShape } from './layout.js';

const ROLES: Record<string, FieldRole> = { t: 'time', w: 'worker', b: 'clockBack', s: 'sequence', e: 'fixed' };

/** `t41.w10.s12`, as in a fingerprint. */
function shape(text: string, rest: Partial<LayoutShape> = {}): LayoutShape {
  const fields = text.split('.').map((each): Field => {
    const [head, value] = each.split('=') as [string, string | undefined];
    const role = ROLES[head[0]!]!;
    return { name: role, role, bits: Number(head.slice(1)), ...(value !== undefined && { value: Number(value) }) };
  });
  return { fields, unitMs: 1, epochMs: 0, ...rest };
}

describe('the shape of a layout', () => {
  it.each([
    't1.s1',
    't41.w10.s12',
    't39.s8.w16',
    't42.w5.w5.s12',
    't33.w10.b1.s18.e1=1',
    't20.e3=7.s3.e2',
    't11.s53',
    't1.w53.s9',
  ])('may be %s', (text) => expect(new Layout(shape(text)).fields).toHaveLength(text.split('.').length));

  it.each([
    ['w10.t41.s12', 'must begin with its only time field'],
    ['t41.w10.t2.s10', 'must begin with its only time field'],
    ['s12.w10', 'must begin with its only time field'],
    ['t41.w10', 'must have exactly one sequence field'],
    ['t41.s5.s5', 'must have exactly one sequence field'],
    ['t41.b1.b1.s5', 'must have at most one clock-back field, of 1 bit'],
    ['t41.b2.s5', 'must have at most one clock-back field, of 1 bit'],
    ['t41.w0.s5', 'must have fields of 1 bit or more'],
    ['t41.s0', 'must have fields of 1 bit or more'],
    ['t-1.s5', 'must have fields of 1 bit or more'],
    ['t41.w12.s12', 'must not have more than 64 bits'],
    ['t5.s54', 'must keep workers, sequences and fixed bits to 53 bits each'],
    ['t5.w30.w24.s2', 'must keep workers, sequences and fixed bits to 53 bits each'],
    ['t41.s12.e2=4', 'must give its fixed fields values that fit into their bits'],
    ['t41.s12.e2=-1', 'must give its fixed fields values that fit into their bits'],
  ])('may not be %s: it %s', (text, message) => {
    const { problems } = caught(ConfigurationError, () => new Layout(shape(text)));
    expect(problems).toEqual([
      { option: 'layout', given: expect.any(String) as string, message: expect.stringContaining(message) as string },
    ]);
  });

  it.each([
    [{ unitMs: 0 }, 'whole milliseconds'],
    [{ unitMs: 0.5 }, 'whole milliseconds'],
    [{ unitMs: Number.NaN }, 'whole milliseconds'],
    [{ epochMs: Number.NaN }, 'an epoch in Unix ms'],
    [{ epochMs: 1.5 }, 'an epoch in Unix ms'],
    [{ epochMs: 9e15 }, 'an epoch in Unix ms'],
  ])('may not have %p', (rest, message) => {
    expect(() => new Layout(shape('t41.w10.s12', rest))).toThrow(message);
  });

  it('is shown as it was given', () => {
    expect(() => new Layout(shape('w10.t41.s12'))).toThrow('layout = worker 10 / time 41 / sequence 12: must begin');
  });
});
