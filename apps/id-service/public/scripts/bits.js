import { element } from './dom.js';
import { bits as bitsText, letterOf, nameOf } from './words.js';

/** The number in one field of an ID. */
export function fieldValue({ bits, shift }, id) {
  return Number((id >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n));
}

/** The fields by what they say: several worker fields, such as Discord's worker and process, are one worker number. */
export function groupsOf(fields) {
  const groups = [];
  for (const field of fields) {
    const last = groups.at(-1);
    if (field.role === 'worker' && last?.[0].role === 'worker') last.push(field);
    else groups.push([field]);
  }
  return groups;
}

/** A value with a heading and what it means; `letter` and `role` tie it to the bits. */
export function fieldCard({ role, letter, name, width, value, meaning }) {
  const head = element('span', { class: 'card-head' });
  if (letter) head.append(element('span', { class: 'letter', 'aria-hidden': 'true' }, letter));
  head.append(element('span', { class: 'card-name' }, name));
  if (width) head.append(element('span', { class: 'card-width' }, width));
  return element(
    'li',
    { class: `card ${role}` },
    head,
    element('span', { class: 'card-value' }, value),
    element('span', { class: 'card-meaning' }, meaning),
  );
}

/** Lights a field's card while one of its bits is pointed at, and its bits while the card is. */
export function litFields(bits, cards) {
  const parts = () => [...bits.children, ...cards.children];
  const light = (field) => {
    for (const part of parts()) part.classList.toggle('lit', field !== undefined && part.dataset.field === field);
  };
  for (const box of [bits, cards]) {
    box.addEventListener('pointerover', ({ target }) => light(target.closest('[data-field]')?.dataset.field));
    box.addEventListener('pointerleave', () => light(undefined));
  }
}

const WIDTH = 64;

/**
 * Shows 64 bits from the most significant down, coloured by field; each part of an ID begins with its letter.
 * @param {HTMLElement} box what holds them
 * @param {bigint} [id] without one the bits are blank: the layout alone
 */
export function showBits(box, plan, id) {
  const fields = [...plan.fields];
  if (plan.bits < WIDTH) fields.unshift({ name: 'sign', role: 'sign', bits: WIDTH - plan.bits, shift: plan.bits });
  const digits = id === undefined ? undefined : id.toString(2).padStart(WIDTH, '0');
  const groups = groupsOf(plan.fields);
  const cells = fields.flatMap((field) => {
    const group = groups.findIndex((each) => each.includes(field));
    const isFirst = group < 0 || groups[group][0] === field;
    const letter = isFirst ? letterOf(field.role) : undefined;
    return Array.from({ length: field.bits }, (_, index) => cell(field, index, { digits, group, letter }));
  });
  box.classList.toggle('blank', id === undefined);
  box.replaceChildren(...cells);
  box.setAttribute('role', 'img');
  box.setAttribute('aria-label', `64 bits: ${fields.map((field) => spoken(field, id)).join(', ')}`);
}

function cell({ role, bits, shift, value }, index, { digits, group, letter }) {
  // What is fixed is known without an ID.
  const fixed = role === 'fixed' ? (value ?? 0).toString(2).padStart(bits, '0')[index] : undefined;
  const digit = digits === undefined ? fixed : digits[WIDTH - shift - bits + index];
  const made = element('span', { class: `bit ${role}${digit === '1' ? ' one' : ''}` }, digit ?? '');
  if (index === 0 && letter !== undefined) made.dataset.letter = letter;
  if (group >= 0) made.dataset.field = String(group);
  return made;
}

function spoken(field, id) {
  const width = `${nameOf(field)} ${bitsText(field.bits)}`;
  if (id !== undefined) return `${width} holding ${fieldValue(field, id)}`;
  return field.role === 'fixed' ? `${width} holding ${field.value ?? 0}` : width;
}
