import { setText } from './element.js';
import { repeat } from './repeat.js';
import { ask } from './service.js';
import { clock } from './words.js';

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
  lost: 'Without a worker id',
  closed: 'Closed',
};

/**
 * Asks `GET /v1/status` every second, shows in the header how the service is, and says when it goes away and comes back.
 * @param {(status: object, atMs: number) => void} onStatus
 */
export function statusFeed(onStatus) {
  const state = document.getElementById('state');
  const text = document.getElementById('state-text');
  const banner = document.getElementById('connection');
  let failures = 0;

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
    } catch (problem) {
      failures++;
      if (failures < AWAY_AFTER) return undefined;
      if (problem.status !== 0) {
        show('waiting', 'Trouble');
        setText(banner, problem.message);
        return SLOW_MS;
      }
      if (state.dataset.state === 'away') return undefined;
      show('away', 'No answer');
      const since = clock(new Date());
      setText(
        banner,
        `The service has not answered since ${since} UTC. This page keeps trying; reading IDs works without it.`,
      );
    }
  };
  repeat(poll, PAUSE_MS).start();
}
