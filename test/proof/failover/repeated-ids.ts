import { repeatedAmong } from '../../support/processes/repeated.js';

/** IDs and who issued them. */
export interface IdsOfOne {
  readonly name: string;
  readonly ids: BigInt64Array;
}

/** How many IDs there are, how many of them somebody had issued before, and who shared the first few of these. */
export interface Repeats {
  readonly ids: number;
  readonly duplicates: number;
  readonly examples: readonly string[];
}

const EXAMPLES = 5;

/** Compares all IDs with each other. */
export function repeatedIds(issuers: readonly IdsOfOne[]): Repeats {
  const all = issuers.map(({ ids }) => ids);
  const repeated = repeatedAmong(all);
  const examples = [...new Set(repeated.subarray(0, EXAMPLES))].map((id) => {
    const owners = issuers.flatMap(({ name, ids }) =>
      Array.from(
        ids.filter((each) => each === id),
        () => name,
      ),
    );
    return `${id}: ${owners.join(', ')}`;
  });
  return { ids: all.reduce((sum, { length }) => sum + length, 0), duplicates: repeated.length, examples };
}
