/** Long enough for every form of an ID, a typed one included; short enough for a log line. */
const SHOWN_CHARACTERS = 48;

/**
 * Writes any value as a short text for a message or a log: strings are cut and everything but printable ASCII is
 * escaped, no code of the value runs (a `toString` may throw), and no number of unbounded length is printed.
 */
export function showValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return showText(value);
    case 'bigint':
      return value > -(10n ** 30n) && value < 10n ** 30n ? `${value}n` : 'a bigint of more than 30 digits';
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'symbol':
      return 'a symbol';
    case 'function':
      return 'a function';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? 'an array' : 'an object';
  }
}

/** What was thrown, in its own words where it has some: its `toString` may throw. */
export function showThrown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return showValue(thrown);
  }
}

function showText(text: string): string {
  const quoted = JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
  const ascii = quoted.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return text.length > SHOWN_CHARACTERS ? `${ascii}... (${text.length} characters)` : ascii;
}
