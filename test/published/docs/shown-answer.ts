/** Digits, how many groups of them a number has, and IDs in other alphabets, differ from run to run. */
function outline(text: string): string {
  const coded = /\bk\d[0-9A-Za-z]{11}\b|(?<=_)[0-9A-Za-z]{11}\b|\b(?=\w*\d)(?=\w*[A-Za-z])[0-9A-Za-z]{10,11}\b/g;
  return text.replace(coded, '#').replace(/\d+(,\d{3})*/g, '#');
}

/**
 * Holds an answer of now against the one that a document shows: the same names, lists as long, the same texts but for
 * their digits.
 *
 * @param names is told by what the IDs of the document are called now
 * @returns where they differ: `.orders[0].id: "12" is not like "x"`
 */
export function differences(shown: unknown, answered: unknown, names = new Map<string, string>(), path = ''): string[] {
  if (isObject(shown) && isObject(answered)) {
    const keys = [...new Set([...Object.keys(shown), ...Object.keys(answered)])];
    return keys.flatMap((key) => differences(shown[key], answered[key], names, `${path}.${key}`));
  }
  const [text, now] = [shown, answered].map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  if (typeof shown === typeof answered && outline(text ?? '') === outline(now ?? '')) {
    // Shorter ones could be part of anything.
    if (typeof shown === 'string' && shown.length >= 10) names.set(shown, String(answered));
    return [];
  }
  return [`${path}: ${JSON.stringify(answered)} is not like ${JSON.stringify(shown)}`];
}

/** The same for what is printed for people: every line that the document shows must have one like it. */
export function missingLines(shown: string, printed: string): string[] {
  const shape = (line: string): string =>
    outline(line)
      .replace(/[\s+-]+/g, ' ')
      .trim();
  const now = new Set(printed.split('\n').map(shape));
  return shown.split('\n').filter((line) => !now.has(shape(line)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
