import { element } from './element.js';
import { ago, clock } from './words.js';

const WORDS = {
  'lease-acquired': ['good', 'Worker id leased'],
  'lease-regained': ['good', 'Worker id leased again'],
  'lease-released': ['', 'Worker id given back'],
  'lease-lost': ['bad', 'Worker id lost: no IDs until there is another'],
  'lease-suspect': ['bad', 'Lease in doubt: no IDs until it is confirmed'],
  'lease-trouble': ['bad', 'The database did not answer a renewal'],
  'clock-back': ['bad', 'The clock went back: the other lane is used'],
  'database-regression': ['bad', 'The database has forgotten a write'],
  warning: ['bad', 'A warning: see the log'],
};

/** What happened to the worker id, the newest first. */
export function showEvents(events) {
  const list = document.getElementById('events');
  const items = events.map(({ at, type }) => {
    const [kind, words] = WORDS[type] ?? ['', type];
    const time = element(
      'time',
      { datetime: at, title: ago(Date.now() - Date.parse(at)) },
      `${clock(new Date(at))} UTC`,
    );
    return element('li', { class: `event ${kind}` }, time, ' ', words);
  });
  const key = events.map(({ at, type }) => at + type).join();
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(...items);
}
