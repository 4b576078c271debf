import * as ours from './index.js';
import { layoutOfAnyCopy } from './layout/layout.js';
import { isErrorNamed, processWide } from './copies.js';

let theirs: typeof ours;
let theirLayoutOfAnyCopy: typeof layoutOfAnyCopy;
jest.isolateModules(() => {
  theirs = jest.requireActual<typeof ours>('./index.js');
  theirLayoutOfAnyCopy = jest.requireActual<typeof import('./layout/layout.js')>('./layout/layout.js').layoutOfAnyCopy;
});

it('these are two copies', () => expect(theirs.ClosedError).not.toBe(ours.ClosedError));

describe('instanceof of an error', () => {
  const error = new ours.InvalidIdError('an ID', 'x', 'digits');

  it('knows the base and the class of another copy', () => {
    expect(error).toBeInstanceOf(theirs.RaindropError);
    expect(error).toBeInstanceOf(theirs.InvalidIdError);
    expect(new theirs.ClosedError()).toBeInstanceOf(ours.ClosedError);
  });

  it('tells other classes apart, in both copies', () => {
    expect(error).not.toBeInstanceOf(theirs.ClosedError);
    expect(error).not.toBeInstanceOf(ours.ClosedError);
  });

  it.each([new Error('x'), undefined, null, 'ClosedError', { name: 'ClosedError' }, {}])('is false for %p', (value) => {
    expect(value instanceof theirs.RaindropError).toBe(false);
    expect(value instanceof theirs.ClosedError).toBe(false);
  });

  it('is false for a class of the same name that is not ours', () => {
    class ClosedError extends Error {}
    expect(new ClosedError()).not.toBeInstanceOf(ours.ClosedError);
  });

  it('takes no name for a class that a minifier gave', () => {
    const Short = {
      a: class a extends ours.RaindropError {
        readonly errorCode = 'X';
        constructor() {
          super('x', { retryable: false });
        }
      },
    }.a;
    expect(isErrorNamed('a', new Short())).toBe(false);
    expect(isErrorNamed('RaindropError', new Short())).toBe(true);
  });
});

describe('a layout of another copy', () => {
  const options = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 } as const;

  it.each([
    ['of the bit options', theirs.createLayout(options)],
    ['of a preset', theirs.presets.twitter()],
    ['with fields of its own names', theirs.presets.westid()],
  ])('%s becomes the same one of this copy', (_, given) => {
    const layout = layoutOfAnyCopy(given)!;
    expect(layout).toBeInstanceOf(ours.Layout);
    expect(JSON.parse(JSON.stringify(layout))).toEqual(JSON.parse(JSON.stringify(given)));
  });

  it('stays what it is in its own copy', () => {
    const layout = theirs.presets.twitter();
    expect(theirLayoutOfAnyCopy(layout)).toBe(layout);
  });

  it.each([undefined, null, 5, 'twitter', {}, { fields: [] }, { ...ours.presets.twitter(), fingerprint: 'another' }])(
    'is not %j',
    (given) => expect(layoutOfAnyCopy(given)).toBeUndefined(),
  );
});

it('what is process-wide is made once', () => {
  const first = processWide('a test', () => ({}));
  expect(processWide('a test', () => ({}))).toBe(first);
  expect(processWide('another test', () => ({}))).not.toBe(first);
});
