import { element } from './element.js';
import { count, date, duration } from './words.js';

/** Lines of figures on the service itself, and on its lease. */
export function showFacts({ issued, uptimeSeconds, assigner, expiresAt, state, lease }) {
  const { leftMs, renewalMs, clockOffsetMs, failures } = lease;
  const isHeld = state === 'held' && leftMs > 0;
  show('facts', [
    ['Issued since the start', count(issued)],
    ['Running for', duration(uptimeSeconds * 1_000)],
    ['Worker ids from', assigner === 'database' ? 'leases in the database' : assigner],
    ['Timestamps last until', expiresAt === null ? 'past the year 275760' : date(new Date(expiresAt))],
  ]);
  show('lease-facts', [
    ['Without the database', isHeld ? `IDs go on for ${Math.floor(leftMs / 1_000)} s` : 'no IDs now'],
    ['Database, a renewal', renewalMs === null ? 'none yet' : `${renewalMs.toFixed(1)} ms`],
    ['Clock against the database', clockOffsetMs === null ? 'not known' : offset(clockOffsetMs)],
    [
      'Renewals that failed',
      lease.lastErrorCode === null ? count(failures) : `${count(failures)}, now ${lease.lastErrorCode}`,
    ],
  ]);
}

function show(id, facts) {
  const items = facts
    .filter(([, value]) => value)
    .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)));
  document.getElementById(id).replaceChildren(...items);
}

function offset(ms) {
  const size = Math.abs(ms);
  if (size < 1) return 'the same';
  const words = size < 1_000 ? `${Math.round(size)} ms` : `${(size / 1_000).toFixed(1)} s`;
  return `${words} ${ms > 0 ? 'ahead' : 'behind'}`;
}
