import { ConfigurationError, OptionReader } from './option-reader.js';
import {
  integer,
  type Numbers,
  oneOf,
  type OptionGroup,
  readOptions,
  resolveOptions,
  switchable,
} from './option-rules.js';

interface Others extends Numbers<'least'> {
  readonly kind: 'small' | 'large';
}

const group = {
  /** Depends on options that stand after it. */
  size: integer({
    min: ({ least }: Others) => least,
    max: ({ kind }: Others) => (kind === 'small' ? 10 : 1_000),
    default: ({ least }: Others, reader) => (reader.refused('least') ? 7 : least),
    hint: ({ kind }: Others) => (kind === 'large' ? 'it is large' : undefined),
  }),
  least: integer({ min: 1, max: 5, default: 3 }),
  kind: oneOf(['small', 'large'], { default: 'small' }),
  limit: integer({ min: 0, max: 9 }),
  inner: switchable({ share: integer({ min: 0, max: 100, default: ({ size }: Numbers<'size'>) => size }) }),
};

function problemsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map(({ option, message }) => `${option} ${message}`);
    throw error;
  }
  return [];
}

describe('A group of options', () => {
  it('is read with defaults that follow from other options, in its own order', () => {
    const read = resolveOptions(group, {});
    expect(read).toEqual({ size: 3, least: 3, kind: 'small', limit: undefined, inner: undefined });
    expect(Object.keys(read)).toEqual(Object.keys(group));
    expect(Object.isFrozen(read)).toBe(true);
    expect(resolveOptions(group, { least: 5, limit: 0 })).toMatchObject({ size: 5, limit: 0 });
  });

  it('has ranges and hints that follow from other options', () => {
    expect(resolveOptions(group, { size: 500, kind: 'LARGE' })).toMatchObject({ size: 500, kind: 'large' });
    expect(problemsOf(() => resolveOptions(group, { size: 500 }))).toEqual([
      'size is out of range: must be an integer from 3 to 10',
    ]);
    expect(problemsOf(() => resolveOptions(group, { size: 5_000, kind: 'large' }))).toEqual([
      'size is out of range: must be an integer from 3 to 1000; it is large',
    ]);
  });

  it('reports all problems together, each once, with the names that are unknown', () => {
    const given = { least: 9, kind: 'medium', limit: '5', inner: { share: -1 }, leest: 3 };
    expect(problemsOf(() => resolveOptions(group, given))).toEqual([
      'least is out of range: must be an integer from 1 to 5',
      `kind must be one of 'small', 'large'`,
      'limit must be a number, not a string: use Number(...)',
      'inner.share is out of range: must be an integer from 0 to 100',
      'leest is not an option; did you mean least?',
    ]);
  });

  it('hands the values on to an inner group', () => {
    expect(resolveOptions(group, { inner: true, least: 4 }).inner).toEqual({ share: 4 });
    expect(resolveOptions(group, { inner: { share: 50 } }).inner).toEqual({ share: 50 });
    expect(problemsOf(() => resolveOptions(group, { inner: 'yes' }))).toEqual([
      'inner must be true, false or { share }',
    ]);
  });

  it('tells whether an option is given that has to be', () => {
    const required = { count: integer({ min: 1, max: 2, isRequired: true }) };
    expect(problemsOf(() => resolveOptions(required, {}))).toEqual(['count is required: an integer from 1 to 2']);
  });

  it('takes what it depends on besides its own options from its reader', () => {
    const rules = { size: integer({ min: 0, max: ({ most }: Numbers<'most'>) => most, default: 0 }) };
    const reader = new OptionReader({ size: 4 });
    expect(readOptions(reader, rules, { most: 4 })).toEqual({ size: 4 });
    // @ts-expect-error: nothing gives `most`
    const unmet: () => unknown = () => readOptions(reader, rules);
    expect(unmet).toBeDefined();
  });
});

it('an option that hangs on itself is a fault of the group', () => {
  const circle: OptionGroup = { a: integer({ min: ({ a }: Numbers<'a'>) => a, max: 1, default: 0 }) };
  expect(() => readOptions(new OptionReader({}), circle)).toThrow(RangeError);
});
