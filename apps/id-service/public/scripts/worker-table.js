import { byId, element, repeat, setText } from './dom.js';
import { ask } from './service.js';
import { count, duration } from './words.js';

const WORDS = {
  held: 'held',
  free: 'free',
  expired: 'expired',
  foreign: 'foreign',
  'used-up': 'ahead of the clock',
  deleted: 'deleted',
  database: 'issued by the database',
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

const PAUSE_MS = 1_000;
const KEY = 'api-key';

const STATES = {
  held: 'held',
  expired: 'expired: free to lease',
  foreign: 'written by another program',
  'used-up': 'ahead of the clock',
  deleted: 'deleted',
  database: 'issued by the database',
};

/**
 * The section that shows who holds which worker id; asks nothing until it is given an API key, unless the service says that
 * it needs none.
 */
export function workerTable() {
  const input = byId('workers-key');
  const rows = byId('workers-rows');
  let key = kept();
  let isOpen = false;
  /** What was typed changes it: an answer to what was asked before then is of no interest. */
  let turn = 0;
  /** The longest lease seen: a full bar. */
  let longestMs = 1;

  const show = ({ workers }) => {
    const taken = workers.filter(({ state }) => state !== 'free');
    for (const { leaseLeftMs } of taken) longestMs = Math.max(longestMs, leaseLeftMs ?? 0);
    const old = new Map([...rows.children].map((row) => [row.dataset.worker, row]));
    const shown = taken.map((worker) => {
      const row = old.get(String(worker.workerId)) ?? newRow(worker.workerId);
      fillRow(row, worker, longestMs);
      return row;
    });
    rows.replaceChildren(...shown);
    showRange(byId('workers-map'), workers);
    byId('workers-map').hidden = false;
    byId('workers-scroll').hidden = taken.length === 0;
    const held = taken.filter(({ state }) => state === 'held').length;
    setText(
      byId('workers-said'),
      `${count(held)} held, ${count(workers.length - taken.length)} free, ${count(workers.length)} in all.`,
    );
  };

  const hide = () => {
    byId('workers-scroll').hidden = true;
    byId('workers-map').hidden = true;
    setText(byId('workers-said'), '');
  };

  const refuse = (words) => {
    turn++;
    loop.stop();
    input.setAttribute('aria-invalid', 'true');
    hide();
    setText(byId('workers-problem'), words);
  };

  const loop = repeat(async () => {
    const asked = turn;
    try {
      const answer = await ask('v1/workers', { key });
      if (asked !== turn) return;
      input.removeAttribute('aria-invalid');
      setText(byId('workers-problem'), '');
      show(answer);
    } catch (problem) {
      if (asked !== turn) return;
      if (problem.status === 404) refuse('The service shows no workers: it was started without API_KEYS.');
      else if (problem.status === 401 || problem.status === 403) refuse('The service does not accept this key.');
      else setText(byId('workers-problem'), problem.message);
    }
  }, PAUSE_MS);

  const use = (given) => {
    turn++;
    key = given;
    keep(given);
    byId('workers-forget').hidden = given === '';
    setText(byId('workers-problem'), '');
    if (given !== '' || isOpen) return loop.start();
    loop.stop();
    input.value = '';
    rows.replaceChildren();
    hide();
  };

  byId('workers-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const given = input.value.trim();
    if (given === '') {
      refuse('Enter the API key first.');
      input.focus();
    } else if (/[^\x21-\x7e]/.test(given)) {
      refuse('A key consists of ASCII characters without blanks.');
      input.focus();
    } else use(given);
  });
  byId('workers-forget').addEventListener('click', () => {
    use('');
    input.focus();
  });
  if (key !== '') {
    input.value = key;
    use(key);
  }
  return {
    apiKey: () => key,
    /** The service is away: who holds which worker id is not known any more. */
    forgetWorkers: hide,
    /** Shows the workers at once where the service says that no key is needed. */
    useStatus: ({ showsWorkers }) => {
      if (showsWorkers === isOpen) return;
      isOpen = showsWorkers;
      for (const id of ['workers-form', 'workers-hint']) byId(id).hidden = isOpen;
      if (isOpen) use('');
    },
  };
}

function newRow(workerId) {
  const row = element('tr', { role: 'row', 'data-worker': String(workerId) });
  const cell = (name, ...children) => element('td', { role: 'cell', class: name }, ...children);
  const bar = element('span', { class: 'bar', 'aria-hidden': 'true' }, element('span'));
  row.append(
    element('th', { role: 'rowheader', scope: 'row', class: 'number' }, String(workerId)),
    cell('state-name'),
    cell('lease', bar, element('span', { class: 'lease-text' })),
    cell('holder'),
    cell('lane number'),
    cell('up-to'),
  );
  return row;
}

/** Changes only what differs: the bar goes on from where it stands. */
function fillRow(row, worker, longestMs) {
  const [, state, lease, holder, lane, upTo] = row.children;
  const leftMs = Math.max(0, worker.leaseLeftMs ?? 0);
  row.dataset.state = worker.state;
  const bar = lease.querySelector('.bar span');
  const scale = Math.min(1, leftMs / longestMs);
  // A renewal jumps, the rest shrinks evenly.
  bar.classList.toggle('jump', scale > Number(bar.dataset.scale ?? 0));
  bar.dataset.scale = String(scale);
  bar.style.transform = `scaleX(${scale})`;
  const isSilent = worker.state === 'held' && leftMs === 0;
  setText(state, isSilent ? 'not renewed' : (STATES[worker.state] ?? worker.state));
  const graceMs = Math.max(0, worker.graceLeftMs ?? 0);
  const words = leftMs > 0 ? `${(leftMs / 1_000).toFixed(1)} s` : graceMs > 0 ? `free in ${duration(graceMs)}` : 'none';
  setText(lease.querySelector('.lease-text'), words);
  setText(holder, worker.holder || '–');
  setText(lane, worker.lane === undefined || worker.lane === null ? '–' : String(worker.lane));
  setText(upTo, reservedUpTo(worker));
}

/** An odometer says what is reserved: a second later some of it is issued, and some may never be. */
function reservedUpTo({ odometers, lane }) {
  const odometer = odometers?.[lane ?? 0];
  if (!odometer || odometer.time === null || odometer.time === undefined) return '–';
  const { time } = odometer;
  return typeof time === 'string' && time.includes('T')
    ? `${time.slice(0, 19).replace('T', ' ')} UTC`
    : `tick ${count(Number(time))}`;
}

function kept() {
  try {
    return sessionStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
}

function keep(key) {
  try {
    if (key === '') sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, key);
  } catch {
    // Then it is typed again after a reload.
  }
}
