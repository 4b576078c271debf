/** A place in a text; both count from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/**
 * Where a text stops being JSON; undefined when it is JSON. What the parser says has a position in some cases only, and
 * quotes the text in others.
 */
export function jsonFault(text: string): TextPlace | undefined {
  if (canGoOn(text) === 'whole') return undefined;
  // What begins like JSON does so with each of its characters: the first that does not is found by halving.
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (canGoOn(text.slice(0, middle)) === 'no') bad = middle;
    else good = middle;
  }
  const before = text.slice(0, good).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

/** Whether a text is JSON, or the beginning of some. */
function canGoOn(text: string): 'whole' | 'begun' | 'no' {
  try {
    JSON.parse(text);
    return 'whole';
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = /at position (\d+)/.exec(message)?.[1];
    const isAtEnd = position === undefined ? message.includes('end of JSON') : Number(position) >= text.length;
    return isAtEnd ? 'begun' : 'no';
  }
}
