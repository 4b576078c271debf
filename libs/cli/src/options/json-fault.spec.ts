import { jsonFault } from './config-file.js';

it.each([
  ['{"a": 1}', undefined],
  [' [1, "x", null, -2.5e3, {"b": [true]}]\n', undefined],
  ['{"a": 1,}', [1, 9]],
  ['{"a": 1\n "b": 2}', [2, 2]],
  ["{\n  'a': 1\n}", [2, 3]],
  ['{"a": hunter2}', [1, 7]],
  ['{"a": tree}', [1, 9]],
  ['{"a": 01}', [1, 8]],
  ['{"a": "x\ny"}', [1, 9]],
  ['{"a": "\\x"}', [1, 9]],
  ['{"a": 1} x', [1, 10]],
  ['// a comment\n{}', [1, 1]],
  // What ends too early is wrong at its end.
  ['{"a": [1, 2', [1, 12]],
  ['{"a": "x', [1, 9]],
  ['', [1, 1]],
])('%j', (text, place) => {
  expect(jsonFault(text)).toEqual(place && { line: place[0], column: place[1] });
});
