import { element } from './element.js';

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
