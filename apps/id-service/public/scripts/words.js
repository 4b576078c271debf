const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

const SECOND = 1_000;
const UNITS = [
  ['year', 365 * 86_400 * SECOND],
  ['day', 86_400 * SECOND],
  ['hour', 3_600 * SECOND],
  ['minute', 60 * SECOND],
  ['second', SECOND],
];

/** `262,144`; small fractions keep three digits. */
export function count(number) {
  return number > 0 && number < 100 && !Number.isInteger(number) ? short.format(number) : whole.format(number);
}

/** From a million on three digits and a letter: `1.14B`. */
export function shortCount(number) {
  return Math.abs(number) < 1_000_000 ? count(number) : compact.format(number);
}

/** For a chart's axis: `5,000`, `200K`. */
export function axisCount(number) {
  return number < 10_000 ? count(number) : compact.format(number);
}

/** `33 bits`. */
export function bits(number) {
  return `${number} ${number === 1 ? 'bit' : 'bits'}`;
}

/** `21 November 2026`, in UTC; of a far future the year alone: `the year 71,710`. */
export function date(moment) {
  const year = moment.getUTCFullYear();
  return year > 9_999 ? `the year ${whole.format(year)}` : day.format(moment);
}

/** What is wrong with an input, by its label: `“Processes” is out of range: must be an integer from 1 to 1023.` */
export function wrongInput(label, message) {
  const said = /^(is|leaves|must) /.test(message) ? `“${label}” ${message}` : `${label}: ${message}`;
  return `${said}${/[.!?]$/.test(message) ? '' : '.'}`;
}

/** `30 Apr 2016`, in UTC. */
export function shortDate(moment) {
  return shortDay.format(moment);
}

/** `20:55:01` or, with the millisecond, `20:55:01.120`, in UTC. */
export function clock(moment, withMs) {
  return moment.toISOString().slice(11, withMs ? 23 : 19);
}

/** `3 minutes ago`, `in 2 days`. */
export function ago(ms) {
  if (Math.abs(ms) < SECOND) return 'just now';
  const [unit, length] = UNITS.find(([, size]) => Math.abs(ms) >= size);
  return relative.format(-Math.trunc(ms / length), unit);
}

/** A length of time by its two largest units: `3 h 12 min`. */
export function duration(ms) {
  const parts = [];
  let left = ms;
  for (const [name, length] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', SECOND],
  ]) {
    const amount = Math.floor(left / length);
    left -= amount * length;
    if (amount > 0) parts.push(`${whole.format(amount)} ${name}`);
    else if (parts.length > 0) break;
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}

/** The system of a reading, for people. */
export function issuerOf({ system, title }) {
  return system === 'own' ? 'This service' : title;
}

/** The letter of a role, in addition to its colour. */
const LETTERS = { time: 'T', worker: 'W', clockBack: 'B', sequence: 'S', fixed: 'E', sign: '±' };

const NAMES = { clockBack: 'Clock-back', end: 'End' };

export function letterOf(role) {
  return LETTERS[role];
}

/** A field's name as a heading. */
export function nameOf({ name }) {
  return NAMES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
}
