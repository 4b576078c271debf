import { nearestName } from './option-reader.js';

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
