import { fieldCard, fieldValue, groupsOf, litFields, showBits } from './bits.js';
import { byId, element, setText, valueButton } from './dom.js';
import { idTable, MOST_ROWS } from './id-table.js';
import { idsIn, isOtherId, listIn, MOST_CHARACTERS } from './ids-in-text.js';
import { shareButton, writeAddress } from './permalink.js';
import { Layout, codecs, recognizeId } from './recognize.js';
import { ask } from './service.js';
import { ago, bits, clock, count, date, issuerOf, letterOf, nameOf, shortDate } from './words.js';

/** From the last key to the question who holds the worker. */
const PAUSE_MS = 300;
/** From the last line to the table. */
const SOON_MS = 60;
/** So many systems are offered. */
const MOST_GUESSES = 6;
const NO_ID =
  'This is not an ID in any known form: decimal, hex, base32, 36, 58, 62 or 64url, typed, or a link that contains one.';

const EXAMPLES = [
  ['Discord message', '175928847299117063'],
  ['X post', '1541815603606036480'],
  ['Instagram post', 'https://www.instagram.com/p/BbgN5SJF5rO/'],
  ['Raindrop', '238206311858190'],
  ['UUID', '018e9f2a-1b2c-7def-8abc-0123456789ab'],
  [
    'Log',
    `{"level":"info","msg":"order paid","orderId":"30077675337940992","user":"175928847299117063"}
INSERT INTO orders (id, user_id) VALUES (30077676411682816, 197038439483310086);
2026-11-21T03:57:11Z GET /orders/30077677485424640 200 request=018e9f2a-1b2c-7def-8abc-0123456789ab`,
  ],
];

/**
 * The section that decodes an ID, or every ID in a text, in the browser; the service confirms one of its own.
 * @param {() => string} apiKey what is typed in the workers' section: with it the service names a worker's holder
 */
export function idReader(apiKey) {
  const input = byId('read-id');
  const choice = byId('read-preset');
  const card = idCard();
  const table = idTable((found) => showOne(found));
  let plan;
  /** What `recognizeId` knows of this service. */
  let own = {};
  let timer;
  let soon;
  /** The reading that the service can confirm. */
  let confirmable;
  /** What the Share button links to. */
  let link = {};

  shareButton(byId('read-share'), () => link);

  const recognize = (text) => withShown(recognizeId(text, own), choice.value);

  const clear = () => {
    confirmable = undefined;
    for (const id of ['read-problem', 'read-check']) setText(byId(id), '');
    byId('read-guesses').hidden = true;
    input.removeAttribute('aria-invalid');
    table.hide();
    card.showLayout(plan);
  };

  const showOne = (found) => {
    clearTimeout(timer);
    confirmable = undefined;
    setText(byId('read-check'), '');
    const { text, shown, foreign, readings } = found;
    // A link names its system, and the ID alone does not.
    const isNamed = readings.length === 1 && shown !== undefined;
    link = { id: text.slice(0, 64), as: choice.value || (isNamed ? shown.system : '') };
    if (shown === undefined) return card.showForeign(foreign);
    card.showReading(shown, shown.system === 'own' ? plan : viewOf(shown.layout));
    const { system, plausibility } = shown;
    if (system !== 'own' || plausibility === 'unlikely') return;
    confirmable = shown;
    timer = setTimeout(() => void check(shown), PAUSE_MS);
  };

  const showGuesses = ({ readings, shown }) => {
    const told = readings
      .filter((reading, index) => reading === shown || reading.plausibility !== 'unlikely' || index === 0)
      .slice(0, MOST_GUESSES);
    const box = byId('read-guesses');
    const buttons = told.map((reading) => {
      const { system, title, parsed, plausibility } = reading;
      const words = `${issuerOf({ system, title })}, ${shortDate(parsed.time)}: ${plausibility}`;
      const attributes = { type: 'button', class: `guess ${plausibility}`, 'aria-pressed': String(reading === shown) };
      const button = element('button', attributes, words);
      button.addEventListener('click', () => {
        choice.value = system;
        read(true);
        box.querySelector('[aria-pressed=true]')?.focus();
      });
      return button;
    });
    const others = told.filter((reading) => reading !== shown).length;
    const more = element('button', { type: 'button', class: 'guess more', 'aria-expanded': 'false' }, `${others} more`);
    more.addEventListener('click', () => {
      box.classList.add('all');
      box.querySelector('[aria-pressed=false]')?.focus();
    });
    box.classList.remove('all');
    box.replaceChildren(...buttons, ...(others > 0 ? [more] : []));
    box.hidden = buttons.length < 2 && choice.value === '';
  };

  /** Only for an ID that is one of its own as far as can be seen here. */
  const check = async (shown) => {
    const { parsed } = shown;
    const say = (words) => confirmable === shown && setText(byId('read-check'), words);
    try {
      const theirs = await ask(`v1/ids/${parsed.id}`, { key: apiKey() });
      const isSame = theirs.workerId === parsed.workerId && Date.parse(theirs.time) === +parsed.time;
      say(
        isSame
          ? `✓ The service confirms this.${originOf(theirs)}${holderOf(theirs)}`
          : `The service decodes it differently: ${theirs.time}, worker ${theirs.workerId}, sequence ${theirs.sequence}.`,
      );
    } catch (problem) {
      say(problem.passing ? UNCONFIRMED : `The service: ${problem.message}`);
    }
  };

  const refuse = (words) => {
    input.setAttribute('aria-invalid', 'true');
    setText(byId('read-problem'), words);
  };

  const readOne = (found, isAsked) => {
    showGuesses(found);
    const isTime = found.foreign?.kind === 'unixTime' && choice.value === '';
    if (found.shown === undefined && !isOtherId(found) && !isTime) return refuse(wordsFor(found, choice));
    showOne(found);
    if (isAsked) writeAddress(link);
  };

  const readMany = (all, left, isAsked) => {
    if (isAsked) writeAddress({});
    const most = mostOf(all);
    table.show(choice.value === '' ? all.map((each) => asMost(each, most)) : all, left);
  };

  /** @param {boolean} isAsked whether a person wants to see it: then the address names it */
  const read = (isAsked) => {
    clearTimeout(timer);
    clearTimeout(soon);
    clear();
    const text = input.value;
    input.rows = Math.min(6, Math.max(1, text.split('\n').length));
    if (text.trim() === '') return isAsked && writeAddress({});
    const lines = listIn(text) ?? [];
    const list = lines.slice(0, MOST_ROWS).map(recognize);
    if (list.some((each) => each.shown !== undefined || isOtherId(each))) {
      const left =
        lines.length > MOST_ROWS ? `. The first ${count(MOST_ROWS)} of ${count(lines.length)} are shown.` : '';
      return readMany(list, left, isAsked);
    }
    const whole = recognize(text);
    const isKnown = whole.readings.length > 0 || whole.foreign !== undefined;
    if (isKnown && !hasWords(text)) return readOne(whole, isAsked);
    const found = idsIn(text, own, MOST_ROWS + 1).map((each) => withShown(each, choice.value));
    if (found.length < 2) return readOne(found[0] ?? whole, isAsked);
    const isCut = text.length > MOST_CHARACTERS;
    const end = isCut ? `. The page searched the first ${count(MOST_CHARACTERS)} characters.` : '';
    const left = found.length > MOST_ROWS ? `. The first ${count(MOST_ROWS)} are shown.` : end;
    readMany(found.slice(0, MOST_ROWS), left, isAsked);
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

  const use = (text, as, isAsked) => {
    choice.value = [...choice.options].some(({ value }) => value === as) ? as : '';
    input.value = text;
    read(isAsked);
  };
  for (const [name, text] of EXAMPLES) {
    const button = element('button', { type: 'button', class: 'small' }, name);
    button.addEventListener('click', () => use(text, '', true));
    byId('read-examples').append(button);
  }

  return {
    /** The layout of this service, as often as it is told. */
    useLayout: (given) => {
      const keyOf = ({ fingerprint, workers }) => `${fingerprint} ${workers.min} ${workers.max}`;
      if (plan !== undefined && keyOf(plan) === keyOf(given)) return;
      plan = given;
      own = { layout: layoutOf(given), workers: given.workers };
      read(false);
    },
    /** What the service said of a worker may be wrong by now. */
    forgetService: () => {
      if (confirmable !== undefined) setText(byId('read-check'), UNCONFIRMED);
    },
    confirmAgain: () => {
      if (confirmable !== undefined) void check(confirmable);
    },
    read: (text, as = '') => use(text, as, false),
    refuse: (words) => setText(byId('read-problem'), words),
  };
}

const UNCONFIRMED = 'Decoded in your browser; the service cannot confirm it now.';

/** Chooses the reading to show: of the system `wanted`, or without one the best, if it is not a worse guess than a UUID. */
function withShown(found, wanted) {
  const { readings, foreign } = found;
  const shown = readings.find(({ system }) => wanted === '' || system === wanted);
  const isOther = wanted === '' && foreign !== undefined && shown?.plausibility === 'unlikely';
  return { ...found, shown: isOther ? undefined : shown };
}

/** The system to which most of the IDs point. */
function mostOf(all) {
  const counts = new Map();
  for (const { readings } of all) {
    const system = readings[0]?.system;
    if (system !== undefined) counts.set(system, (counts.get(system) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** One of many IDs is of the system of most of them, but for those that are likely another's. */
function asMost(found, most) {
  if (found.shown === undefined || found.shown.plausibility === 'likely') return found;
  return { ...found, shown: found.readings.find(({ system }) => system === most) ?? found.shown };
}

/** A number may be written in groups, such as `175 928 847`; every other text with blanks is words. */
function hasWords(text) {
  return /\S\s+\S/.test(text) && !/^[\d\s]+$/.test(text);
}

function wordsFor({ text, foreign, readings }, choice) {
  if (choice.value !== '' && readings.length > 0) {
    return `Not an ID of ${choice.selectedOptions[0].textContent}: it does not fit the bits, or its time is out of range.`;
  }
  return foreign?.kind === 'number' ? `${text} is a plain number, not an ID.` : NO_ID;
}

/** A sentence on who holds the worker now, when the service tells it. */
function holderOf({ workerId, holder }) {
  if (holder === undefined) return '';
  return holder === null ? ` Worker ${workerId} is free now.` : ` ${holder} holds worker ${workerId} now.`;
}

const ORIGINS = {
  'not-recorded': ' The process that issued it was not recorded.',
  'before-history': ' It is older than the history of its worker.',
  'never-issued': ' No process issued it: its worker was not granted so far.',
  'other-layout': '',
  'by-database': ' Issued by the database.',
};

/** A sentence on the process that issued it, when the service keeps a history and tells it. */
function originOf({ origin }) {
  if (origin === undefined) return '';
  if (origin.issuer === null) return ORIGINS[origin.finding] ?? '';
  const { host, pod, pid, ending } = origin.issuer;
  const place = [pod === host ? '' : pod, host].filter((each) => each !== '').join(' on ');
  const end = ending === 'lapsed' ? ', which crashed or was cut off' : ending === 'released' ? ', which has ended' : '';
  return ` Issued by ${place === '' ? '' : `${place}, `}process ${pid}${end}.`;
}

/** The card of one ID: its bits, its time, its forms to copy and its fields. */
function idCard() {
  const showMoment = valueButton(byId('read-moment'));
  const switches = [...byId('read-clock').children];
  let form = 'utc';
  /** The time that is shown, with its milliseconds or not. */
  let moment = { time: new Date(0), withMs: true };

  litFields(byId('read-bits'), byId('read-fields'));

  const tellTime = () => showMoment('the time', ...TIME_FORMS[form](moment));
  for (const button of switches) {
    button.addEventListener('click', () => {
      form = button.dataset.clock;
      for (const each of switches) each.setAttribute('aria-pressed', String(each === button));
      tellTime();
    });
  }

  const show = ({ time, withMs, aside, forms, notes, isForeign }) => {
    byId('read-result').hidden = false;
    byId('read-result').classList.toggle('foreign', isForeign);
    byId('read-bits').hidden = isForeign;
    for (const id of ['read-moment', 'read-clock']) byId(id).hidden = time === undefined;
    if (time !== undefined) {
      moment = { time, withMs };
      tellTime();
    }
    setText(byId('read-aside'), aside.join(' · '));
    byId('read-forms').replaceChildren(...forms.map(formItem));
    byId('read-notes').replaceChildren(...notes.map((note) => element('li', {}, note)));
    const said = time === undefined ? [] : [TIME_FORMS.utc(moment)[0]];
    setText(byId('read-said'), [...said, ...aside].join(', '));
  };

  return {
    /** Without an ID: the fields of the service's layout. */
    showLayout: (plan) => {
      byId('read-result').hidden = true;
      byId('read-bits').hidden = false;
      byId('read-notes').replaceChildren();
      setText(byId('read-said'), '');
      for (const id of ['read-bits', 'read-fields']) byId(id).replaceChildren();
      if (plan === undefined) return;
      showBits(byId('read-bits'), plan);
      showFields(plan);
    },
    showReading: ({ parsed, system, title, plausibility, reason }, plan) => {
      const { id, time, workerId, sequence } = parsed;
      const who = system === 'own' ? 'this service' : title;
      const parts = [`worker ${count(workerId)}`, `sequence ${count(sequence)}`, `${ISSUED[plausibility]} ${who}`];
      showBits(byId('read-bits'), plan, id);
      showFields(plan, id);
      const doubts = plausibility === 'unlikely' ? [`Unlikely: ${reason}.`] : [];
      const notes = [...doubts, ...notesOn(plan, { system, parsed })];
      const withMs = plan.unitMs < 1_000;
      show({
        time,
        withMs,
        aside: [ago(Date.now() - time), ...parts],
        forms: formsOf(parsed),
        notes,
        isForeign: false,
      });
    },
    /** A value of another kind, such as a UUID: its time, if it holds one. */
    showForeign: ({ title, time }) => {
      byId('read-fields').replaceChildren();
      const age = time === undefined ? 'it holds no time' : ago(Date.now() - time);
      const forms = time === undefined ? [] : [['Unix ms', String(time.getTime())]];
      const aside = [title, age, 'not a snowflake: no worker, no sequence'];
      show({ time, withMs: true, aside, forms, notes: [], isForeign: true });
    },
  };
}

const ISSUED = { likely: 'likely issued by', possible: 'possibly issued by', unlikely: 'probably not issued by' };

/** How a time is written: the text to copy, and its parts to show. */
const TIME_FORMS = {
  utc: ({ time, withMs }) => {
    const [day, hour] = [`${date(time)}, `, `${clock(time, withMs)} UTC`];
    return [`${day}${hour}`, day, element('span', { class: 'nowrap' }, hour)];
  },
  iso: ({ time }) => [time.toISOString()],
  local: ({ time }) => {
    const options = { dateStyle: 'long', timeStyle: 'long' };
    return [new Intl.DateTimeFormat(undefined, options).format(time)];
  },
};

/** The forms in which an ID can be copied. */
function formsOf({ id, time }) {
  const isSigned = id < 2n ** 63n;
  return [
    ['Unix ms', String(time.getTime())],
    ['Decimal', String(id)],
    ['Hex', `0x${id.toString(16)}`],
    // No codec writes what has all 64 bits.
    ...(isSigned ? [['Base62', codecs.base62.encode(id)]] : []),
  ];
}

function formItem([name, text]) {
  const button = element('button', { type: 'button', class: 'value' });
  valueButton(button)(name, text);
  return element('div', {}, element('dt', {}, name), element('dd', {}, button));
}

/** The layout of a plan, as the library has it. */
function layoutOf({ fields, unitMs, epoch }) {
  return new Layout({ fields, unitMs, epochMs: Date.parse(epoch) });
}

/** A layout as a plan has it, as far as it is shown. */
function viewOf({ fields, bits: width, unitMs, epochMs, maxWorkerId }) {
  const timeUnit = { 1: 'millisecond', 1_000: 'second' }[unitMs];
  const epoch = new Date(epochMs).toISOString();
  return { fields, bits: width, unitMs, timeUnit, epoch, workers: { min: 0, max: maxWorkerId } };
}

/** Shows a card for each part of an ID; without an ID, of the layout alone. */
function showFields(plan, id) {
  const cards = groupsOf(plan.fields).map((fields, index) => {
    const made = cardOf(plan, fields, id);
    made.dataset.field = String(index);
    return made;
  });
  byId('read-fields').replaceChildren(...cards);
}

function cardOf(plan, fields, id) {
  const [field] = fields;
  const { role } = field;
  const values = fields.map((each) => (id === undefined ? undefined : fieldValue(each, id)));
  // The first of several fields is the highest bits.
  const value = fields.reduce((sum, each, index) => sum * 2 ** each.bits + values[index], 0);
  const width = fields.reduce((sum, each) => sum + each.bits, 0);
  const unit = plan.timeUnit ?? `${plan.unitMs} ms`;
  const meanings = {
    time: plan.timeUnit ? `${unit}s since ${plan.epoch.slice(0, 10)}` : `× ${unit} since ${plan.epoch.slice(0, 10)}`,
    worker: fields.length > 1 ? partsOf(fields, values) : `of ${count(2 ** width)}`,
    clockBack: 'one of two lanes',
    sequence: `of ${count(2 ** width)} in a ${plan.timeUnit ? unit : 'tick'}`,
    fixed: 'always the same',
  };
  return fieldCard({
    role,
    letter: letterOf(role),
    name: fields.length > 1 ? 'Worker' : nameOf(field),
    width: bits(width),
    value: id === undefined ? '–' : count(value),
    meaning: meanings[role],
  });
}

/** `worker 1 × 32 + process 0`: how the worker number is made of its fields. */
function partsOf(fields, values) {
  const parts = fields.map(({ name }, index) => {
    const below = fields.slice(index + 1).reduce((sum, each) => sum + each.bits, 0);
    const value = values[index] === undefined ? '' : ` ${count(values[index])}`;
    return `${name}${value}${below > 0 ? ` × ${2 ** below}` : ''}`;
  });
  return parts.join(' + ');
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
  const value = fixed.reduce((sum, field) => sum * 2 ** field.bits + (field.value ?? 0), 0);
  if (fixed.length > 0 && parsed.endBits !== value) {
    notes.push(`Its end bits are ${parsed.endBits}, and ${value} in this layout: it is an ID of another layout.`);
  }
  return notes;
}
