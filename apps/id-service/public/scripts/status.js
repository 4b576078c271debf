import { element, repeat, setText } from './dom.js';
import { ask } from './service.js';
import { ago, clock, count, date, duration } from './words.js';

const PAUSE_MS = 1_000;
/** For a service that answers with an error, too many requests among them. */
const SLOW_MS = 5_000;
/** One lost answer is no outage. */
const AWAY_AFTER = 2;

/** How long the return is told. */
const BACK_MS = 6_000;

const STATES = {
  held: 'Ready',
  ready: 'Ready',
  starting: 'Starting',
  suspect: 'Confirming its lease',
  lost: 'No worker id',
  closed: 'Closed',
};

/**
 * Asks `GET /v1/status` every second, shows in the header how the service is, and says when it goes away and comes back.
 * @param {(status: object, atMs: number) => void} onStatus
 * @param {{ onUnknown(): void, onAway(): void, onBack(): void }} changes `onUnknown` is called for each answer that is
 * missing or an error, from the second in a row on
 */
export function statusFeed(onStatus, { onUnknown, onAway, onBack }) {
  const state = document.getElementById('state');
  const text = document.getElementById('state-text');
  const banner = document.getElementById('connection');
  let failures = 0;
  let isAway = false;

  const show = (kind, words) => {
    state.dataset.state = kind;
    setText(text, words);
  };

  const poll = async () => {
    try {
      const status = await ask('v1/status');
      if (failures >= AWAY_AFTER) {
        setText(banner, 'The service answers again.');
        setTimeout(() => failures === 0 && setText(banner, ''), BACK_MS);
      }
      failures = 0;
      const words = STATES[status.state] ?? status.state;
      show(words === 'Ready' ? 'ready' : 'waiting', words);
      onStatus(status, performance.now());
      if (isAway) onBack();
      isAway = false;
    } catch (problem) {
      failures++;
      if (failures < AWAY_AFTER) return undefined;
      onUnknown();
      if (problem.status !== 0) {
        show('waiting', 'Trouble');
        setText(banner, problem.message);
        return SLOW_MS;
      }
      if (state.dataset.state === 'away') return undefined;
      isAway = true;
      onAway();
      show('away', 'No answer');
      const since = clock(new Date());
      setText(
        banner,
        `The service has not answered since ${since} UTC. This page keeps trying. It decodes IDs without the service.`,
      );
    }
  };
  repeat(poll, PAUSE_MS).start();
}

/** Lines of figures on the service itself, and on its lease. */
export function showFacts({ issued, uptimeSeconds, assigner, expiresAt, state, lease }) {
  const { leftMs, renewalMs, clockOffsetMs, failures } = lease;
  const isHeld = state === 'held' && leftMs > 0;
  show('facts', [
    ['Issued since the start', count(issued)],
    ['Uptime', duration(uptimeSeconds * 1_000)],
    ['Source of worker ids', assigner === 'database' ? 'leases in the database' : assigner],
    ['Layout ends on', expiresAt === null ? 'after the year 275760' : date(new Date(expiresAt))],
  ]);
  show('lease-facts', [
    ['IDs without the database', isHeld ? `for ${Math.floor(leftMs / 1_000)} s` : 'none now'],
    ['Renewal time', renewalMs === null ? 'none yet' : `${renewalMs.toFixed(1)} ms`],
    ['Clock offset to the database', clockOffsetMs === null ? 'unknown' : offset(clockOffsetMs)],
    [
      'Failed renewals',
      lease.lastErrorCode === null ? count(failures) : `${count(failures)}, now ${lease.lastErrorCode}`,
    ],
  ]);
}

/** The service is away: what it said of itself and its worker id is out of date. */
export function forgetFacts() {
  for (const id of ['facts', 'lease-facts']) show(id, []);
  showEvents([]);
}

function show(id, facts) {
  const items = facts
    .filter(([, value]) => value)
    .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)));
  document.getElementById(id).replaceChildren(...items);
}

function offset(ms) {
  const size = Math.abs(ms);
  if (size < 1) return 'none';
  const words = size < 1_000 ? `${Math.round(size)} ms` : `${(size / 1_000).toFixed(1)} s`;
  return `${words} ${ms > 0 ? 'ahead' : 'behind'}`;
}

const WORDS = {
  'lease-acquired': ['good', 'Worker id leased'],
  'lease-regained': ['good', 'Worker id leased again'],
  'lease-released': ['', 'Worker id released'],
  'lease-lost': ['bad', 'Worker id lost: the service issues no IDs until it leases another'],
  'lease-suspect': ['bad', 'Lease in doubt: the service issues no IDs until it is confirmed'],
  'lease-trouble': ['bad', 'The database did not answer a renewal'],
  'clock-back': ['bad', 'The clock went back: the service uses the other lane'],
  'database-regression': ['bad', 'The database has lost a write'],
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
