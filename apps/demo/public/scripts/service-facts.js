import { element } from './element.js';
import { count, date, duration } from './words.js';

/** One line of figures on the service itself. */
export function showFacts({ issued, uptimeSeconds, assigner, expiresAt }) {
  const facts = [
    ['Issued since the start', count(issued)],
    ['Running for', duration(uptimeSeconds * 1_000)],
    ['Worker ids from', assigner === 'database' ? 'leases in the database' : assigner],
    ['Timestamps last until', expiresAt === null ? 'past the year 275760' : date(new Date(expiresAt))],
  ];
  const items = facts
    .filter(([, value]) => value)
    .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)));
  document.getElementById('facts').replaceChildren(...items);
}
