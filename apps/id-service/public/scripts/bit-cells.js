import { element } from './element.js';
import { fieldValue } from './id-parts.js';
import { letterOf, nameOf } from './field-words.js';
import { bits as bitsText } from './words.js';

const WIDTH = 64;

/**
 * Shows 64 bits from the most significant down, coloured by field; each field begins with its letter.
 * @param {HTMLElement} box what holds them
 * @param {bigint} [id] without one the bits are blank: the layout alone
 */
export function showBits(box, plan, id) {
  const fields = [...plan.fields];
  if (plan.bits < WIDTH) fields.unshift({ name: 'sign', role: 'sign', bits: WIDTH - plan.bits, shift: plan.bits });
  const digits = id === undefined ? undefined : id.toString(2).padStart(WIDTH, '0');
  const cells = fields.flatMap((field) =>
    Array.from({ length: field.bits }, (_, index) => cell(field, index, digits, plan.fields.indexOf(field))),
  );
  box.classList.toggle('blank', id === undefined);
  box.replaceChildren(...cells);
  box.setAttribute('role', 'img');
  box.setAttribute('aria-label', `64 bits: ${fields.map((field) => spoken(field, id)).join(', ')}`);
}

function cell({ role, bits, shift, value }, index, digits, field) {
  // What is fixed is known without an ID.
  const fixed = role === 'fixed' ? (value ?? 0).toString(2).padStart(bits, '0')[index] : undefined;
  const digit = digits === undefined ? fixed : digits[WIDTH - shift - bits + index];
  const made = element('span', { class: `bit ${role}${digit === '1' ? ' one' : ''}` }, digit ?? '');
  if (index === 0) made.dataset.letter = letterOf(role);
  if (field >= 0) made.dataset.field = String(field);
  return made;
}

function spoken(field, id) {
  const width = `${nameOf(field)} ${bitsText(field.bits)}`;
  if (id !== undefined) return `${width} holding ${fieldValue(field, id)}`;
  return field.role === 'fixed' ? `${width} holding ${field.value ?? 0}` : width;
}
