import { byId, copyButton, downloadText, element, setText } from './dom.js';
import { isOtherId } from './ids-in-text.js';
import { clock, count, duration, issuerOf, shortDate } from './words.js';

/** More rows would hold up the page. */
export const MOST_ROWS = 1_000;

/**
 * The table of many IDs: what each says, and the gap to the one before it.
 * @param {(found: object) => void} onChoose a person wants to see one of them in full
 */
export function idTable(onChoose) {
  const body = byId('read-rows');
  let csv = '';
  byId('read-csv-copy').replaceWith(copyButton('Copy as CSV', () => csv, { id: 'read-csv-copy' }));
  byId('read-csv-save').addEventListener('click', () => downloadText('ids.csv', 'text/csv', csv));

  const choose = (row, found) => {
    for (const each of body.querySelectorAll('[aria-current]')) each.removeAttribute('aria-current');
    row.setAttribute('aria-current', 'true');
    onChoose(found);
  };

  // One stop of the Tab key for the whole table.
  body.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const buttons = [...body.querySelectorAll('button')];
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  });
  body.addEventListener('focusin', ({ target }) => {
    for (const each of body.querySelectorAll('button[tabindex="0"]')) each.tabIndex = -1;
    target.tabIndex = 0;
  });

  return {
    /** @param {string} left what is not shown, as a sentence */
    show: (read, left) => {
      const rows = withGaps(read.map(rowOf));
      csv = csvOf(rows);
      setText(byId('read-many-said'), `${summaryOf(rows)}${left}`);
      const made = read.map((found, index) => {
        const row = element('tr', {}, ...cellsOf(rows[index]));
        const button = row.querySelector('button');
        button?.addEventListener('click', () => choose(row, found));
        return row;
      });
      body.replaceChildren(...made);
      const first = made.findIndex((row) => row.querySelector('button') !== null);
      byId('read-many').hidden = false;
      if (first < 0) return;
      made[first].querySelector('button').tabIndex = 0;
      choose(made[first], read[first]);
    },
    hide: () => {
      byId('read-many').hidden = true;
      body.replaceChildren();
    },
  };
}

function rowOf(found) {
  const { text, shown, foreign } = found;
  const none = { id: text.slice(0, 64), system: '', time: undefined, gapMs: undefined, worker: '', sequence: '' };
  if (shown !== undefined) {
    const { parsed } = shown;
    const { id, time, workerId, sequence } = parsed;
    return {
      ...none,
      id: String(id),
      system: issuerOf(shown),
      time,
      worker: String(workerId),
      sequence: String(sequence),
    };
  }
  return !isOtherId(found) ? none : { ...none, system: foreign.title, time: foreign.time };
}

function withGaps(rows) {
  let before;
  return rows.map((row) => {
    if (row.time === undefined) return row;
    const gapMs = before === undefined ? undefined : row.time - before;
    before = row.time;
    return { ...row, gapMs };
  });
}

/** `3 IDs · 10 Aug 2015, 17:26:37 to 30 Apr 2016, 11:18:26 UTC · 263 d 17 h`. */
function summaryOf(rows) {
  const ids = rows.filter(({ system }) => system !== '').length;
  const others = rows.length - ids;
  const counted = `${count(ids)} ${ids === 1 ? 'ID' : 'IDs'}`;
  const parts = [
    others === 0 ? counted : `${counted}, ${count(others)} ${others === 1 ? 'line' : 'lines'} without one`,
  ];
  const times = rows.flatMap(({ time }) => (time === undefined ? [] : [+time])).sort((a, b) => a - b);
  if (times.length > 1) {
    const [from, to] = [times[0], times.at(-1)];
    const [first, last] = [from, to].map((ms) => `${shortDate(ms)}, ${clock(new Date(ms))}`);
    parts.push(`${first} to ${last} UTC`, to - from < 1_000 ? `${to - from} ms` : duration(to - from));
  }
  return parts.join(' · ');
}

function cellsOf({ id, system, time, gapMs, worker, sequence }) {
  const cell = (text, name = '') => element('td', name === '' ? {} : { class: name }, text);
  const iso = time?.toISOString();
  const moment =
    iso === undefined ? (system === '' ? 'no ID' : 'holds no time') : `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
  const name = system === '' ? id : element('button', { type: 'button', class: 'id-link', tabindex: '-1' }, id);
  return [
    element('th', { scope: 'row', class: 'id-cell' }, name),
    cell(system),
    cell(moment, 'nowrap'),
    cell(gapMs === undefined ? '' : gapOf(gapMs), 'number nowrap'),
    cell(worker, 'number'),
    cell(sequence, 'number'),
  ];
}

/** `+1.5 s`; an ID that is older than the one before has a minus. */
function gapOf(ms) {
  const size = Math.abs(ms);
  const sign = ms < 0 ? '−' : '+';
  const [length, unit] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ].find(([least]) => size >= least) ?? [1, 'ms'];
  return `${sign}${Number((size / length).toFixed(2))} ${unit}`;
}

function csvOf(rows) {
  const quoted = (text) => (/[",\n]|^[=+@-]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = rows.map(({ time, ...row }) =>
    [quoted(row.id), quoted(row.system), time?.toISOString(), row.gapMs, row.worker, row.sequence].join(','),
  );
  return `${['id,system,time,gap_ms,worker,sequence', ...lines].join('\r\n')}\r\n`;
}
