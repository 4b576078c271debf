/** Where something stands that counts up in equal steps, with what is known of its text. */
export interface DecimalMark {
  sequence: number;
  /** The number at `sequence`, and what two neighbours differ by: 64-bit cells add without a bigint in between. */
  readonly cell: BigInt64Array;
  /** All of a number but its last four digits, for those whose number `tailBase` + offset has no more than four. */
  head: string;
  tailBase: number;
}

/** `0000` to `9999`. */
const TAILS: readonly string[] = Array.from({ length: 10_000 }, (_, tail) => String(tail).padStart(4, '0'));

/**
 * The ID at the mark as decimal text: a head that 10,000 neighbours share, and a tail from a table. About a quarter of
 * what `BigInt.prototype.toString` takes.
 */
export function decimalText(s: DecimalMark, sequenceStep: number): string {
  const tail = s.tailBase + s.sequence * sequenceStep;
  return tail >= 0 && tail < 10_000 ? s.head + TAILS[tail]! : newHead(s, sequenceStep);
}

/** Writes the texts of the positions that follow the mark into a part of a list, and moves the mark to the last one. */
export function writeNextTexts(s: DecimalMark, sequenceStep: number, batch: string[], from: number, end: number): void {
  for (let index = from; index < end; index++) {
    pass(s, 1);
    batch[index] = decimalText(s, sequenceStep);
    let tail = s.tailBase + s.sequence * sequenceStep;
    const first = index;
    // All that share the head, without a look at anything else.
    const { head } = s;
    while ((tail += sequenceStep) < 10_000 && index + 1 < end) batch[++index] = head + TAILS[tail]!;
    pass(s, index - first);
  }
}

function pass(s: DecimalMark, positions: number): void {
  s.sequence += positions;
  s.cell[0] = s.cell[0]! + s.cell[1]! * BigInt(positions);
}

function newHead(s: DecimalMark, sequenceStep: number): string {
  const text = s.cell[0]!.toString();
  if (text.length > 4) {
    s.head = text.slice(0, -4);
    s.tailBase = Number(text.slice(-4)) - s.sequence * sequenceStep;
  }
  return text;
}
