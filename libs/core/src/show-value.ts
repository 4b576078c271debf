/** Enough for every form of an ID, typed ones included, and short enough for a log line. */
const SHOWN_CHARACTERS = 48;

/**
 * Writes any value as a short text for a message or a log. Strings are cut to 48 characters, and everything but printable
 * ASCII is escaped. No code of the value runs, because a `toString` may throw. Long bigints are not printed.
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

/** Writes a thrown value as text: by its own `toString`, or as {@link showValue} does when that throws. */
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
