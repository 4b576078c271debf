import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError, nearestName, OptionReader } from './option-reader.js';

/** What is wrong after `read` has asked for its options. */
function problemsOf(raw: unknown, read: (reader: OptionReader) => void): string[] {
  const reader = new OptionReader(raw);
  read(reader);
  return caught(ConfigurationError, () => reader.finish()).problems.map(
    ({ option, given, message }) => `${option} = ${given}: ${message}`,
  );
}

describe('an option reader', () => {
  it('reads what is given and fills in the rest', () => {
    const reader = new OptionReader({ count: 7, on: false, mode: 'FAST', name: 'abc', absent: undefined });
    expect(reader.integer('count', { min: 0, max: 9 })).toBe(7);
    expect(reader.integer('absent', { min: 0, max: 9, default: 4 })).toBe(4);
    expect(reader.boolean('on', true)).toBe(false);
    expect(reader.boolean('off', true)).toBe(true);
    expect(reader.oneOf('mode', ['slow', 'fast'], 'slow')).toBe('fast');
    expect(reader.oneOf('other', ['slow', 'fast'], 'slow')).toBe('slow');
    expect(reader.string('name', { fallback: '', pattern: /^[a-z]+$/, legal: 'letters' })).toBe('abc');
    expect(reader.string('title', { fallback: 'none', pattern: /^[a-z]+$/, legal: 'letters' })).toBe('none');
    expect(reader.problems).toEqual([]);
    expect(() => reader.finish()).not.toThrow();
  });

  it.each([
    [undefined, 'n = undefined: is required: an integer from 2 to 8; why'],
    ['5', 'n = "5": must be a number, not a string: use Number(...); why'],
    [1, 'n = 1: is out of range: must be an integer from 2 to 8; why'],
    [9, 'n = 9: is out of range: must be an integer from 2 to 8; why'],
    [Number.NaN, 'n = NaN: must be an integer from 2 to 8; why'],
    [Infinity, 'n = Infinity: must be an integer from 2 to 8; why'],
    [2.5, 'n = 2.5: must be an integer from 2 to 8; why'],
    [null, 'n = null: must be an integer from 2 to 8; why'],
    [5n, 'n = 5n: must be an integer from 2 to 8; why'],
    [true, 'n = true: must be an integer from 2 to 8; why'],
    [[5], 'n = an array: must be an integer from 2 to 8; why'],
    [{ valueOf: () => 5 }, 'n = an object: must be an integer from 2 to 8; why'],
  ])('refuses the integer %p with the range and the reason', (given: unknown, expected) => {
    expect(problemsOf({ n: given }, (reader) => reader.integer('n', { min: 2, max: 8, hint: 'why' }))).toEqual([
      expected,
    ]);
  });

  it('goes on after a refused value with its default or the least legal one', () => {
    const reader = new OptionReader({ a: 'x', b: 'x', c: 'x', d: 'x', e: 1 });
    expect(reader.integer('a', { min: 2, max: 8 })).toBe(2);
    expect(reader.integer('b', { min: 2, max: 8, default: 4 })).toBe(4);
    expect(reader.boolean('c', true)).toBe(true);
    expect(reader.oneOf('d', ['slow', 'fast'], 'slow')).toBe('slow');
    expect(reader.string('e', { fallback: 'none', pattern: /^/, legal: 'a text' })).toBe('none');
    expect(reader.refused('a')).toBe(true);
    expect(reader.refused('other', 'b')).toBe(true);
    expect(reader.refused('other')).toBe(false);
    expect(caught(ConfigurationError, () => reader.finish()).problems.map(({ option }) => option)).toEqual([
      ...'abcde',
    ]);
  });

  it('says what is legal of booleans, names and texts', () => {
    const problems = problemsOf({ on: 'true', mode: 'slowly', name: '9' }, (reader) => {
      reader.boolean('on', false);
      reader.oneOf('mode', ['slow', 'fast'], 'slow');
      reader.string('name', { fallback: '', pattern: /^[a-z]+$/, legal: 'letters' });
    });
    expect(problems).toEqual([
      'on = "true": must be true or false',
      `mode = "slowly": must be one of 'slow', 'fast'`,
      'name = "9": must be letters',
    ]);
  });

  it('reports names that were never read, with the name that was meant', () => {
    const problems = problemsOf({ timeUnits: 2, colour: 'red' }, (reader) => reader.value('timeUnit'));
    expect(problems).toEqual([
      'timeUnits = (number): is not an option; did you mean timeUnit?',
      'colour = (string): is not an option',
    ]);
  });

  it('keeps the value of an unknown option out of the message: it may be a password', () => {
    const reader = new OptionReader({ url: 'mysql://root:hunter2@localhost' });
    expect(caught(ConfigurationError, () => reader.finish()).message).not.toContain('hunter2');
  });

  it('reads own properties only, and takes names of the prototype for unknown ones', () => {
    const inherited = Object.create({ n: 5 }) as object;
    expect(new OptionReader(inherited).integer('n', { min: 0, max: 9, default: 1 })).toBe(1);
    expect(new OptionReader({ __proto__: { n: 5 } }).integer('n', { min: 0, max: 9, default: 1 })).toBe(1);
    expect(new OptionReader({}).value('constructor')).toBeUndefined();

    const parsed: unknown = JSON.parse('{"__proto__": {"n": 5}, "constructor": 1, "toString": 2}');
    expect(problemsOf(parsed, (reader) => expect(reader.integer('n', { min: 0, max: 9, default: 1 })).toBe(1))).toEqual(
      [
        '__proto__ = (object): is not an option',
        'constructor = (number): is not an option',
        'toString = (number): is not an option',
      ],
    );
    expect(({} as Record<string, unknown>)['n']).toBeUndefined();
  });

  it('reads an object without a prototype', () => {
    const bare = Object.assign(Object.create(null) as object, { n: 5 });
    expect(new OptionReader(bare).integer('n', { min: 0, max: 9 })).toBe(5);
  });

  it.each([[undefined], [null], ['options'], [5], [[]], [() => ({})]])(
    'refuses %p in place of an object',
    (raw: unknown) => {
      const { problems } = caught(ConfigurationError, () => new OptionReader(raw));
      expect(problems).toEqual([expect.objectContaining({ option: 'options', message: 'must be an object' })]);
    },
  );

  it('shows dates, and cuts what is long', () => {
    const given = { a: new Date(0), b: new Date(Number.NaN), c: 'x'.repeat(500) };
    const reader = new OptionReader(given);
    for (const name of Object.keys(given)) reader.problem(name, reader.value(name), 'is wrong');
    const { problems, message, errorCode, retryable } = caught(ConfigurationError, () => reader.finish());
    expect(problems[0]!.given).toBe('1970-01-01T00:00:00.000Z');
    expect(problems[1]!.given).toBe('Invalid Date');
    expect(problems[2]!.given.length).toBeLessThan(80);
    expect(message.split('\n')).toHaveLength(4);
    expect({ errorCode, retryable }).toEqual({ errorCode: 'CONFIGURATION', retryable: false });
  });

  it('names ten unknown options, and counts the others', () => {
    const raw = Object.fromEntries(Array.from({ length: 26_000 }, (_, index) => [`name${index}`, index]));
    const problems = problemsOf({ ...raw, known: 1 }, (reader) => reader.value('known'));
    expect(problems).toHaveLength(11);
    expect(problems[9]).toBe('name9 = (number): is not an option');
    expect(problems[10]).toBe('options = 26001 names: has 25990 more unknown names');
  });
});

const known = ['timeUnit', 'timeStampLength', 'workIdLength', 'endBitsLength', 'endBitsValue'];

describe('the nearest name', () => {
  it.each([
    ['another case', 'TimeStampLength', 'timeStampLength'],
    ['a swapped pair', 'timeStampLenght', 'timeStampLength'],
    ['a missing letter', 'timUnit', 'timeUnit'],
    ['two more letters', 'workerIdLength', 'workIdLength'],
    ['underscores', 'work_id_Length', 'workIdLength'],
    ['the nearer of two', 'endBitsValues', 'endBitsValue'],
  ])('is found after %s', (_, given, name) => expect(nearestName(given, known)).toBe(name));

  it.each(['', 'foo', 'wrkLength', 'timeStampLengthInBits', 'x'.repeat(65), '__proto__'])(
    'is not found for %j',
    (given) => expect(nearestName(given, known)).toBeUndefined(),
  );
});
