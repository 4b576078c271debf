import { element } from './element.js';
import { count } from './words.js';

const WORDS = {
  held: 'held',
  free: 'free',
  expired: 'expired',
  foreign: 'foreign',
  'used-up': 'ahead of the clock',
  deleted: 'deleted',
};

/** All worker ids of the table as small squares, a colour and a pattern for each state, with a legend that counts them. */
export function showRange(box, workers) {
  const states = Object.keys(WORDS).filter((state) => workers.some((worker) => worker.state === state));
  const key = workers.map(({ workerId, state }) => `${workerId}${state}`).join();
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const cells = workers.map(({ workerId, state }) =>
    element('span', { class: `slot ${state}`, title: `Worker ${workerId}: ${WORDS[state] ?? state}` }),
  );
  const counts = states.map((state) => [state, workers.filter((worker) => worker.state === state).length]);
  const words = counts.map(([state, number]) => `${count(number)} ${WORDS[state]}`);
  const map = element(
    'div',
    { class: 'slots', role: 'img', 'aria-label': `Worker ids: ${words.join(', ')}` },
    ...cells,
  );
  const legend = counts.map(([state], index) =>
    element('li', {}, element('span', { class: `slot ${state}`, 'aria-hidden': 'true' }), ` ${words[index]}`),
  );
  box.replaceChildren(map, element('ul', { class: 'legend' }, ...legend));
}
