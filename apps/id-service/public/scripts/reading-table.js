import { copyButton, downloadText } from './copy.js';
import { element, setText } from './element.js';
import { MOST_LINES } from './readings.js';
import { count } from './words.js';

const byId = (id) => document.getElementById(id);

/** The table of many IDs: what each says, and how long after the one before it was made. */
export function readingTable() {
  let csv = '';
  byId('read-csv-copy').replaceWith(copyButton('Copy as CSV', () => csv, { id: 'read-csv-copy' }));
  byId('read-csv-save').addEventListener('click', () => downloadText('ids.csv', 'text/csv', csv));

  return {
    show: (read, all) => {
      const rows = read.map(({ line, shown }, index) => {
        if (shown === undefined)
          return { id: line.trim().slice(0, 64), system: '', time: '', after: '', worker: '', sequence: '' };
        const { parsed, title } = shown;
        const before = read.slice(0, index).findLast((each) => each.shown !== undefined)?.shown.parsed.time;
        return {
          ...{ id: String(parsed.id), system: title, time: parsed.time.toISOString() },
          after: before === undefined ? '' : interval(parsed.time - before),
          ...{ worker: String(parsed.workerId), sequence: String(parsed.sequence) },
        };
      });
      csv = csvOf(rows);
      const wrong = read.filter(({ shown }) => shown === undefined).length;
      const left = all > read.length ? ` The first ${count(MOST_LINES)} of ${count(all)} are shown.` : '';
      setText(
        byId('read-many-said'),
        `${count(read.length)} IDs${wrong > 0 ? `, ${count(wrong)} of them no IDs` : ''}.${left}`,
      );
      byId('read-rows').replaceChildren(...rows.map(rowOf));
      byId('read-many').hidden = false;
    },
    hide: () => {
      byId('read-many').hidden = true;
    },
  };
}

function rowOf({ id, system, time, after, worker, sequence }) {
  const cell = (text, name = '') => element('td', name === '' ? {} : { class: name }, text);
  const shown = time === '' ? 'no ID' : `${time.slice(0, 10)} ${time.slice(11, 23)}`;
  return element(
    'tr',
    {},
    element('th', { scope: 'row', class: 'id-cell' }, id),
    ...[
      cell(system),
      cell(shown, 'nowrap'),
      cell(after, 'number nowrap'),
      cell(worker, 'number'),
      cell(sequence, 'number'),
    ],
  );
}

/** `+1.5 s`; an ID that is older than the one before has a minus. */
function interval(ms) {
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
  const lines = rows.map((row) => Object.values(row).map(quoted).join(','));
  return `${['id,system,time,after,worker,sequence', ...lines].join('\r\n')}\r\n`;
}
