import { showBits } from './bit-cells.js';
import { element, setText } from './element.js';
import { fieldCard } from './field-card.js';
import { letterOf, nameOf } from './field-words.js';
import { fieldValue, idParts } from './id-parts.js';
import { readIdText } from './id-text.js';
import { ask } from './service.js';
import { ago, bits, clock, count, date } from './words.js';

/** From the last key to the question whether the service reads the same. */
const PAUSE_MS = 300;
/** Clocks of two hosts differ. */
const FUTURE_MS = 60_000;
const COMPARED = ['tick', 'workerId', 'clockBack', 'sequence', 'endBits'];

const byId = (id) => document.getElementById(id);

/**
 * The section that takes an ID apart, in the browser, and has the service confirm it.
 * @param {() => string} apiKey what is typed in the workers' section: with it the service names a worker's holder
 */
export function idReader(apiKey) {
  const input = byId('read-id');
  const preset = byId('read-preset');
  const plans = new Map();
  let timer;

  const clear = (plan) => {
    setText(byId('read-problem'), '');
    setText(byId('read-check'), '');
    setText(byId('read-said'), '');
    byId('read-result').hidden = true;
    byId('read-notes').replaceChildren();
    input.removeAttribute('aria-invalid');
    showBits(byId('read-bits'), plan);
    byId('read-fields').replaceChildren(...plan.fields.map((field) => cardOf(plan, field)));
  };

  const show = (plan, id, parts) => {
    showBits(byId('read-bits'), plan, id);
    byId('read-fields').replaceChildren(...plan.fields.map((field) => cardOf(plan, field, id)));
    byId('read-moment').replaceChildren(
      `${date(parts.time)}, `,
      element('span', { class: 'nowrap' }, `${clock(parts.time, plan.unitMs < 1_000)} UTC`),
    );
    const aside = [
      ago(Date.now() - parts.time),
      `worker ${count(parts.workerId)}`,
      `sequence ${count(parts.sequence)}`,
    ];
    setText(byId('read-aside'), aside.join(' · '));
    byId('read-result').hidden = false;
    const notes = notesOn(plan, parts, preset.value === '');
    byId('read-notes').replaceChildren(...notes.map((note) => element('li', {}, note)));
  };

  const check = async (plan, id, parts) => {
    const query = preset.value === '' ? '' : `?preset=${encodeURIComponent(preset.value)}`;
    const isCurrent = () => idOf(plan) === id && plans.get(preset.value) === plan;
    setText(byId('read-said'), `${byId('read-moment').textContent}, ${byId('read-aside').textContent}`);
    try {
      const theirs = await ask(`v1/ids/${id}${query}`, { key: apiKey() });
      if (!isCurrent()) return;
      const same = COMPARED.every((part) => theirs[part] === parts[part]) && Date.parse(theirs.time) === +parts.time;
      const words = same
        ? `✓ The service reads the same.${holderOf(theirs)}`
        : `The service reads it differently: ${theirs.time}, worker ${theirs.workerId}, sequence ${theirs.sequence}.`;
      setText(byId('read-check'), words);
    } catch (problem) {
      if (!isCurrent()) return;
      const words = problem.passing
        ? 'Read here; the service cannot confirm it now.'
        : `The service: ${problem.message}`;
      setText(byId('read-check'), words);
    }
  };

  const idOf = (plan) => readIdText(input.value, plan.bits)?.id;

  const read = () => {
    clearTimeout(timer);
    const plan = plans.get(preset.value);
    if (plan === undefined) return;
    clear(plan);
    const given = readIdText(input.value, plan.bits);
    if (given === undefined) return;
    const parts = given.id === undefined ? undefined : idParts(plan, given.id);
    const problem =
      given.problem ?? (parts.time === null ? 'Its time lies beyond the year 275760: another layout’s ID.' : '');
    if (problem !== '') {
      input.setAttribute('aria-invalid', 'true');
      setText(byId('read-problem'), problem);
      return;
    }
    show(plan, given.id, parts);
    timer = setTimeout(() => void check(plan, given.id, parts), PAUSE_MS);
  };

  input.addEventListener('input', read);
  preset.addEventListener('change', read);
  byId('read-form').addEventListener('submit', (event) => {
    event.preventDefault();
    read();
  });

  return {
    /** The layout of this service, as often as it is told. */
    useLayout: (plan) => {
      if (plans.get('')?.fingerprint === plan.fingerprint) return;
      plans.set('', plan);
      read();
    },
    usePresets: (presets) => {
      for (const { name, plan } of presets) {
        plans.set(name, plan);
        preset.append(element('option', { value: name }, name));
      }
    },
    read: (id) => {
      preset.value = '';
      input.value = id;
      read();
    },
    refuse: (words) => setText(byId('read-problem'), words),
  };
}

function cardOf(plan, field, id) {
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
  return fieldCard({
    role,
    letter: letterOf(role),
    name: nameOf(field),
    width: bits(field.bits),
    value: value === undefined ? '–' : count(value),
    meaning: meanings[role],
  });
}

/** A sentence on who holds the worker now, when the service tells it. */
function holderOf({ workerId, holder }) {
  if (holder === undefined) return '';
  return holder === null ? ` Nobody holds worker ${workerId} now.` : ` Worker ${workerId} is held by ${holder} now.`;
}

/** What makes one doubt that the ID is of this layout. */
function notesOn(plan, parts, isOurs) {
  const notes = [];
  if (parts.time - Date.now() > FUTURE_MS)
    notes.push('Its time lies in the future: it may be an ID of another layout.');
  const { min, max } = plan.workers;
  if (isOurs && (parts.workerId < min || parts.workerId > max)) {
    notes.push(`Worker ${parts.workerId} is not one of this service’s, ${min} to ${max}.`);
  }
  const fixed = plan.fields.filter(({ role }) => role === 'fixed');
  const own = fixed.reduce((value, field) => value * 2 ** field.bits + (field.value ?? 0), 0);
  if (fixed.length > 0 && parts.endBits !== own) {
    notes.push(`Its end bits are ${parts.endBits}, this layout’s ${own}: an ID of another layout.`);
  }
  return notes;
}
