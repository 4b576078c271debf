import { recognizeId } from './recognize.js';

/** More of a text would hold up the page. */
export const MOST_CHARACTERS = 500_000;

/** Tells whether a value is an ID of another kind: a UUID, a ULID or an ObjectId, not a number or a Unix time. */
export function isOtherId({ foreign }) {
  return ['uuid', 'ulid', 'objectId'].includes(foreign?.kind);
}

/** Shorter numbers are counts, dates and times much more often than IDs. */
const LEAST_DIGITS = 15;
/** Shorter hex is the short name of a commit. */
const LEAST_HEX = 13;

const LINK = /https?:\/\/[^\s"'`<>)\]}]+|<[@#!&:\w]{1,70}>/;
/** Neither a part of a longer word nor of a number with a fraction. */
const WORD = /(?<![\w-]|\d\.)[0-9A-Za-z][\w-]*(?![\w-]|\.\d)/;
const WORDS = new RegExp(WORD, 'g');
const LINKS_AND_WORDS = new RegExp(`${LINK.source}|${WORD.source}`, 'g');

/**
 * Every ID in a text of any kind, each once, in the order of the text. In running text only what is an ID beyond doubt
 * counts: `createdAt1` could be an Instagram shortcode, and is not one there.
 * @param {object} options of `recognizeId`
 * @param {number} most how many at most
 */
export function idsIn(text, options, most) {
  const found = new Map();
  const asked = new Set();
  for (const [token] of text.slice(0, MOST_CHARACTERS).matchAll(LINKS_AND_WORDS)) {
    // A log repeats its words.
    if (asked.has(token)) continue;
    asked.add(token);
    for (const each of idsOf(token, options)) if (!found.has(each.text)) found.set(each.text, each);
    if (found.size >= most) break;
  }
  return [...found.values()].slice(0, most);
}

/** Nearly all words of a text are none of these: asking what they could be takes far longer. */
const WORTH_ASKING = /^(?!\d{4}-\d\d-\d\d)(?=.*\d).*[0-9A-Za-z]{9}/;
/** Longer words are digests, but for UUIDs and texts with a prefix. */
const DIGEST = /^[0-9A-Za-z]{27,}$/;

function idsOf(token, options) {
  if (!WORTH_ASKING.test(token) || DIGEST.test(token)) return [];
  const whole = recognizeId(token, options);
  if (isId(whole, token)) return [whole];
  return piecesOf(token)
    .map((piece) => recognizeId(piece, options))
    .filter((each) => isId(each, each.text));
}

/** The words of a link, or the numbers of a word such as `order-30241874109531974`. */
function piecesOf(token) {
  if (LINK.test(token)) return token.slice(1).match(WORDS) ?? [];
  return token.split(/[-_]/).filter((piece) => /^\d+$/.test(piece) && piece !== token);
}

function isId(found, token) {
  const { text, readings, foreign } = found;
  if (foreign !== undefined) return isOtherId(found);
  const [best] = readings;
  if (best === undefined || best.plausibility === 'unlikely') return false;
  const { system, form, plausibility, prefix, parsed } = best;
  const isOwn = system === 'own' && plausibility === 'likely';
  if (/^\d+$/.test(text)) return text.length >= LEAST_DIGITS || isOwn;
  // A link or a mention names its system.
  if (text !== token || form === 'hex-0x') return true;
  if (prefix !== undefined && form === 'decimal') return parsed.id >= 10n ** BigInt(LEAST_DIGITS - 1);
  return isOwn && form !== 'base32-lenient' && (form !== 'hex' || text.length >= LEAST_HEX) && /[a-z]/i.test(text);
}

/** A line that holds one word, maybe quoted, with a comma or semicolon at its end. */
const ONE_WORD = /^\s*["'`]?[\w-]{1,64}["'`]?\s*[,;]?\s*$/;

/** The lines of a text that has one word on each of several lines; undefined for all other texts. */
export function listIn(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.every((line) => ONE_WORD.test(line)) ? lines : undefined;
}
