import { ProblemException } from '../problems/problem.exception.js';

/** No further than this is anything looked at that a client sends. The deepest of ours is 2 deep. */
const DEEPEST = 32;
const MOST_MEMBERS = 64;
const MOST_ELEMENTS = 128;
const MOST_VALUES = 512;

/**
 * Judges the shape of what JSON.parse made, before anything reads it that takes long for what is large, or calls itself
 * for what is deep.
 *
 * @throws ProblemException 400 that names the limit
 */
export function demandUsualShape(input: unknown): void {
  if (valuesIn(input, 1) > MOST_VALUES) throw unusual(`${MOST_VALUES} values in all`);
}

/** Stops soon after there are too many. */
function valuesIn(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (depth > DEEPEST) throw unusual(`values no deeper than ${DEEPEST}`);
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (Array.isArray(value) && inner.length > MOST_ELEMENTS) throw unusual(`lists of at most ${MOST_ELEMENTS} elements`);
  if (!Array.isArray(value) && inner.length > MOST_MEMBERS) {
    throw unusual(`objects of at most ${MOST_MEMBERS} members`);
  }
  let values = 1;
  for (const each of inner) {
    values += valuesIn(each, depth + 1);
    if (values > MOST_VALUES) break;
  }
  return values;
}

function unusual(legal: string): ProblemException {
  return new ProblemException(400, { errorCode: 'INVALID_INPUT', detail: `what is sent may have ${legal}` });
}
