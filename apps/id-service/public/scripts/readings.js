import { codecs, Layout, recognizeId } from './recognize.js';

/** The layout of a plan, as the library has it. */
export function layoutOf({ fields, unitMs, epoch }) {
  return new Layout({ fields, unitMs, epochMs: Date.parse(epoch) });
}

/** More lines would hold up the page. */
export const MOST_LINES = 1_000;

/** The lines of a text that is more than one ID: by lines, or by blanks, commas and semicolons. */
export function linesOf(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length !== 1) return lines;
  const parts = lines[0]
    .trim()
    .split(/[\s,;]+/)
    .filter((part) => part !== '');
  return parts.length > 1 && parts.every((part) => /^["'`]?\d{15,20}["'`]?$/.test(part)) ? parts : lines;
}

/**
 * What a text can be, and which of it is shown.
 * @param {string} wanted the system that a person has chosen; '' for the most plausible one
 */
export function readText(text, layout, wanted) {
  const found = recognizeId(text, layout === undefined ? {} : { layout });
  const shown = found.readings.find(({ system }) => wanted === '' || system === wanted);
  return { ...found, shown };
}

/** Every line by the system that most of them point to, but for those that are likely another's. */
export function readLines(lines, layout, wanted) {
  const all = lines.slice(0, MOST_LINES).map((line) => ({ line, ...readText(line, layout, wanted) }));
  const firsts = all.flatMap(({ readings }) => (readings[0] ? [readings[0].system] : []));
  const counts = new Map(firsts.map((system) => [system, firsts.filter((each) => each === system).length]));
  const [most] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  if (wanted !== '') return all;
  return all.map((each) => {
    if (each.shown === undefined || each.shown.plausibility === 'likely') return each;
    return { ...each, shown: each.readings.find(({ system }) => system === most) ?? each.shown };
  });
}

/** The forms in which a reading can be copied. */
export function formsOf({ parsed }) {
  const { id, time } = parsed;
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  const signed = id < 2n ** 63n;
  return [
    ['UTC', time.toUTCString().replace('GMT', 'UTC')],
    ['Local time', local.format(time)],
    ['ISO 8601', time.toISOString()],
    ['Unix ms', String(time.getTime())],
    ['Decimal', String(id)],
    ['Hex', `0x${id.toString(16)}`],
    // No codec writes what has all 64 bits.
    ...(signed ? [['Base62', codecs.base62.encode(id)]] : []),
  ];
}
