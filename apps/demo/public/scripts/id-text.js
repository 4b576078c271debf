const MOST = { 63: 2n ** 63n - 1n, 64: 2n ** 64n - 1n };

/**
 * Reads what a person pasted: an ID in decimal, perhaps with blanks, quotes, a comma or JavaScript's `n` around it.
 * @param {number} bits of the layout, without the sign bit
 * @returns {{ id: bigint } | { problem: string } | undefined} undefined for nothing at all
 */
export function readIdText(text, bits) {
  const bare = text
    .trim()
    .replace(/^["'`]|["'`],?$|,$/g, '')
    .replace(/^(\d+)n$/, '$1');
  if (bare === '') return undefined;
  if (bare.startsWith('-')) return { problem: 'An ID is never negative.' };
  const wrong = /\D/.exec(bare);
  if (wrong !== null) {
    return { problem: `An ID is written in digits only; character ${wrong.index + 1} is “${wrong[0]}”.` };
  }
  if (bare.length > 1 && bare.startsWith('0')) return { problem: 'An ID does not begin with a zero.' };
  const most = MOST[bits > 63 ? 64 : 63];
  if (bare.length > 20 || BigInt(bare) > most) {
    return { problem: `Too large: an ID of ${bits > 63 ? 64 : 63} bits is at most ${most}.` };
  }
  return { id: BigInt(bare) };
}
