import { hasDigitsOf } from './precision.js';

const ID = 2n ** 63n - 1n;

it.each([
  [ID, true],
  [String(ID), true],
  [Number(ID), false],
  ['9223372036854775806', false],
  [null, false],
  [{}, false],
])('compares digits: %p', (value, isSame) => {
  expect(hasDigitsOf(ID, value)).toBe(isSame);
});
