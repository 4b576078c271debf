import { fieldCard, fieldValue, litFields, showBits } from './bits.js';
import { byId, copyButton, downloadText, element, setText } from './dom.js';
import { writeAddress } from './permalink.js';
import { Layout, codecs, recognizeId } from './recognize.js';
import { ask } from './service.js';
import { ago, bits, clock, count, date, letterOf, nameOf, shortDate } from './words.js';

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

/** The table of many IDs: what each says, and how long after the one before it was made. */
export function readingTable() {
  let csv = '';
  byId('read-csv-copy').replaceWith(copyButton('Copy as CSV', () => csv, { id: 'read-csv-copy' }));
  byId('read-csv-save').addEventListener('click', () => downloadText('ids.csv', 'text/csv', csv));

  return {
    show: (read, all) => {
      const rows = read.map(({ line, shown }, index) => {
        if (shown === undefined)
          return { id: line.trim().slice(0, 64), system: '', time: '', after: '', worker: '', sequence: '' };
        const { parsed, title } = shown;
        const before = read.slice(0, index).findLast((each) => each.shown !== undefined)?.shown.parsed.time;
        return {
          ...{ id: String(parsed.id), system: title, time: parsed.time.toISOString() },
          after: before === undefined ? '' : interval(parsed.time - before),
          ...{ worker: String(parsed.workerId), sequence: String(parsed.sequence) },
        };
      });
      csv = csvOf(rows);
      const wrong = read.filter(({ shown }) => shown === undefined).length;
      const left = all > read.length ? ` The first ${count(MOST_LINES)} of ${count(all)} are shown.` : '';
      setText(
        byId('read-many-said'),
        `${count(read.length)} IDs${wrong > 0 ? `, ${count(wrong)} of them no IDs` : ''}.${left}`,
      );
      byId('read-rows').replaceChildren(...rows.map(rowOf));
      byId('read-many').hidden = false;
    },
    hide: () => {
      byId('read-many').hidden = true;
    },
  };
}

function rowOf({ id, system, time, after, worker, sequence }) {
  const cell = (text, name = '') => element('td', name === '' ? {} : { class: name }, text);
  const shown = time === '' ? 'no ID' : `${time.slice(0, 10)} ${time.slice(11, 23)}`;
  return element(
    'tr',
    {},
    element('th', { scope: 'row', class: 'id-cell' }, id),
    ...[
      cell(system),
      cell(shown, 'nowrap'),
      cell(after, 'number nowrap'),
      cell(worker, 'number'),
      cell(sequence, 'number'),
    ],
  );
}

/** `+1.5 s`; an ID that is older than the one before has a minus. */
function interval(ms) {
  const size = Math.abs(ms);
  const sign = ms < 0 ? '−' : '+';
  const [length, unit] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ].find(([least]) => size >= least) ?? [1, 'ms'];
  return `${sign}${Number((size / length).toFixed(2))} ${unit}`;
}

function csvOf(rows) {
  const quoted = (text) => (/[",\n]|^[=+@-]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = rows.map((row) => Object.values(row).map(quoted).join(','));
  return `${['id,system,time,after,worker,sequence', ...lines].join('\r\n')}\r\n`;
}

/** From the last key to the question who holds the worker. */
const PAUSE_MS = 300;
/** From the last line to the table. */
const SOON_MS = 60;
const NO_ID =
  'That is no ID in any form that is known here: decimal, hex, base32, 36, 58, 62 or 64url, typed, or a link that holds one.';

/**
 * The section that recognises an ID and takes it apart, in the browser; for one of its own, the service confirms it.
 * @param {() => string} apiKey what is typed in the workers' section: with it the service names a worker's holder
 */
export function idReader(apiKey) {
  const input = byId('read-id');
  const choice = byId('read-preset');
  const table = readingTable();
  let plan;
  let layout;
  let timer;
  let soon;

  litFields(byId('read-bits'), byId('read-fields'));

  const clear = () => {
    for (const id of ['read-problem', 'read-check', 'read-said']) setText(byId(id), '');
    for (const id of ['read-result', 'read-guesses']) byId(id).hidden = true;
    byId('read-notes').replaceChildren();
    input.removeAttribute('aria-invalid');
    table.hide();
    if (plan === undefined) return;
    showBits(byId('read-bits'), plan);
    byId('read-fields').replaceChildren(...plan.fields.map((field, index) => cardOf(plan, field, index)));
  };

  const show = (found) => {
    const { shown } = found;
    const { parsed, layout: of, system, plausibility, reason } = shown;
    const seen = system === 'own' ? plan : viewOf(of);
    showBits(byId('read-bits'), seen, parsed.id);
    byId('read-fields').replaceChildren(...seen.fields.map((field, index) => cardOf(seen, field, index, parsed.id)));
    byId('read-moment').replaceChildren(
      `${date(parsed.time)}, `,
      element('span', { class: 'nowrap' }, `${clock(parsed.time, seen.unitMs < 1_000)} UTC`),
    );
    const who = system === 'own' ? 'this service' : shown.title;
    const aside = [
      ago(Date.now() - parsed.time),
      `worker ${count(parsed.workerId)}`,
      `sequence ${count(parsed.sequence)}`,
    ];
    setText(byId('read-aside'), [...aside, `read as ${who}: ${plausibility}`].join(' · '));
    byId('read-forms').replaceChildren(...formsOf(shown).flatMap(formRow));
    byId('read-result').hidden = false;
    const notes = [...(plausibility === 'unlikely' ? [`Unlikely: ${reason}.`] : []), ...notesOn(seen, shown)];
    byId('read-notes').replaceChildren(...notes.map((note) => element('li', {}, note)));
    setText(byId('read-said'), `${byId('read-moment').textContent}, ${byId('read-aside').textContent}`);
  };

  const showGuesses = ({ readings, shown }) => {
    const told = readings.filter(({ plausibility }, index) => plausibility !== 'unlikely' || index === 0).slice(0, 6);
    const buttons = told.map((reading) => {
      const { system, title, parsed, plausibility } = reading;
      const who = system === 'own' ? 'This service' : title;
      const words = `${who}, ${shortDate(parsed.time)}: ${plausibility}`;
      const attributes = { type: 'button', class: `guess ${plausibility}`, 'aria-pressed': String(reading === shown) };
      const button = element('button', attributes, words);
      button.addEventListener('click', () => {
        choice.value = system;
        read(true);
        byId('read-guesses').querySelector('[aria-pressed=true]')?.focus();
      });
      return button;
    });
    byId('read-guesses').replaceChildren(...buttons);
    byId('read-guesses').hidden = buttons.length < 2 && choice.value === '';
  };

  /** Only for an ID that is one of its own as far as can be seen here. */
  const check = async ({ parsed }) => {
    const text = input.value;
    const say = (words) => input.value === text && setText(byId('read-check'), words);
    try {
      const theirs = await ask(`v1/ids/${parsed.id}`, { key: apiKey() });
      const isSame = theirs.workerId === parsed.workerId && Date.parse(theirs.time) === +parsed.time;
      say(
        isSame
          ? `✓ The service reads the same.${holderOf(theirs)}`
          : `The service reads it differently: ${theirs.time}, worker ${theirs.workerId}, sequence ${theirs.sequence}.`,
      );
    } catch (problem) {
      say(problem.passing ? 'Read here; the service cannot confirm it now.' : `The service: ${problem.message}`);
    }
  };

  const refuse = (words) => {
    input.setAttribute('aria-invalid', 'true');
    setText(byId('read-problem'), words);
  };

  const readMany = (lines) => {
    const found = readLines(lines, layout, choice.value);
    const first = found.find(({ shown }) => shown !== undefined);
    if (first !== undefined) show(first);
    table.show(found, lines.length);
  };

  /** @param {boolean} isAsked whether a person wants to see it: then the address names it */
  const read = (isAsked) => {
    clearTimeout(timer);
    clearTimeout(soon);
    clear();
    input.rows = Math.min(6, Math.max(1, input.value.split('\n').length));
    const lines = linesOf(input.value);
    if (lines.length === 0) return isAsked && writeAddress({});
    if (lines.length > 1) {
      if (isAsked) writeAddress({});
      return readMany(lines);
    }
    const found = readText(lines[0], layout, choice.value);
    showGuesses(found);
    if (found.shown === undefined) return refuse(wordsFor(found, choice));
    if (found.foreign !== undefined && choice.value === '' && found.shown.plausibility === 'unlikely')
      return refuse(wordsFor(found, choice));
    show(found);
    if (isAsked) writeAddress({ id: found.text.slice(0, 64), as: choice.value });
    const { system, plausibility } = found.shown;
    if (system === 'own' && plausibility !== 'unlikely') timer = setTimeout(() => void check(found.shown), PAUSE_MS);
  };

  input.addEventListener('input', () => {
    choice.value = '';
    clearTimeout(soon);
    // Many lines may arrive one by one.
    if (input.value.includes('\n')) soon = setTimeout(() => read(true), SOON_MS);
    else read(true);
  });
  // A text of several lines is pasted; Enter reads.
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    read(true);
  });
  choice.addEventListener('change', () => read(true));
  byId('read-form').addEventListener('submit', (event) => {
    event.preventDefault();
    read(true);
  });

  return {
    /** The layout of this service, as often as it is told. */
    useLayout: (given) => {
      if (plan?.fingerprint === given.fingerprint) return;
      plan = given;
      layout = layoutOf(given);
      read(false);
    },
    isEmpty: () => input.value === '',
    read: (text, as = '') => {
      choice.value = [...choice.options].some(({ value }) => value === as) ? as : '';
      input.value = text;
      read(false);
    },
    refuse: (words) => setText(byId('read-problem'), words),
  };
}

/** A layout as a plan has it, as far as it is shown. */
function viewOf({ fields, bits: width, unitMs, epochMs, maxWorkerId }) {
  const timeUnit = { 1: 'millisecond', 1_000: 'second' }[unitMs];
  const epoch = new Date(epochMs).toISOString();
  return { fields, bits: width, unitMs, timeUnit, epoch, workers: { min: 0, max: maxWorkerId } };
}

function wordsFor({ foreign, readings }, choice) {
  if (foreign !== undefined) {
    const made = foreign.time === undefined ? '' : ` of ${date(foreign.time)}, ${clock(foreign.time)} UTC`;
    return `${foreign.title}${made}: not a snowflake.`;
  }
  if (readings.length === 0 || choice.value === '') return NO_ID;
  return `No ID of ${choice.selectedOptions[0].textContent}: it does not fit its bits, or its time lies beyond what can be told.`;
}

function formRow([name, text]) {
  const copy = copyButton('Copy', () => text, { 'aria-label': `Copy ${name}` });
  return [element('dt', {}, name), element('dd', {}, element('span', { class: 'form-text' }, text), copy)];
}

function cardOf(plan, field, index, id) {
  const { role } = field;
  const value = id === undefined ? undefined : fieldValue(field, id);
  const unit = plan.timeUnit ?? `${plan.unitMs} ms`;
  const meanings = {
    time: plan.timeUnit ? `${unit}s since ${plan.epoch.slice(0, 10)}` : `× ${unit} since ${plan.epoch.slice(0, 10)}`,
    worker: `of ${count(2 ** field.bits)}`,
    clockBack: 'one of two lanes',
    sequence: `of ${count(2 ** field.bits)} in a ${plan.timeUnit ? unit : 'tick'}`,
    fixed: 'always the same',
  };
  const card = fieldCard({
    role,
    letter: letterOf(role),
    name: nameOf(field),
    width: bits(field.bits),
    value: value === undefined ? '–' : count(value),
    meaning: meanings[role],
  });
  card.dataset.field = String(index);
  return card;
}

/** A sentence on who holds the worker now, when the service tells it. */
function holderOf({ workerId, holder }) {
  if (holder === undefined) return '';
  return holder === null ? ` Nobody holds worker ${workerId} now.` : ` Worker ${workerId} is held by ${holder} now.`;
}

/** What makes one doubt that the ID is of this service. */
function notesOn(plan, { system, parsed }) {
  if (system !== 'own') return [];
  const notes = [];
  const { min, max } = plan.workers;
  if (parsed.workerId < min || parsed.workerId > max) {
    notes.push(`Worker ${parsed.workerId} is not one of this service’s, ${min} to ${max}.`);
  }
  const fixed = plan.fields.filter(({ role }) => role === 'fixed');
  const own = fixed.reduce((value, field) => value * 2 ** field.bits + (field.value ?? 0), 0);
  if (fixed.length > 0 && parsed.endBits !== own) {
    notes.push(`Its end bits are ${parsed.endBits}, this layout’s ${own}: an ID of another layout.`);
  }
  return notes;
}
