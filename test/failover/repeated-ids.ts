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
  const all = new BigInt64Array(issuers.reduce((sum, { ids }) => sum + ids.length, 0));
  let offset = 0;
  for (const { ids } of issuers) {
    all.set(ids, offset);
    offset += ids.length;
  }
  all.sort();
  const repeated = all.filter((id, index) => index > 0 && id === all[index - 1]);
  const examples = [...new Set(repeated.subarray(0, EXAMPLES))].map((id) => {
    const owners = issuers.flatMap(({ name, ids }) =>
      Array.from(
        ids.filter((each) => each === id),
        () => name,
      ),
    );
    return `${id}: ${owners.join(', ')}`;
  });
  return { ids: all.length, duplicates: repeated.length, examples };
}
