import { element, setText, svgElement } from './dom.js';
import { axisCount, clock, count } from './words.js';

/** How fast IDs are issued, from a counter that is looked at now and then. */
export class RateSamples {
  /** @type {{ atMs: number, rate: number | undefined }[]} the oldest first; a sample without a rate is a gap */
  samples = [];
  #last;

  /** @param {number} keepMs how far back samples are kept */
  constructor(keepMs) {
    this.keepMs = keepMs;
  }

  /** @param {number} issued the counter; @param {number} atMs any clock that only goes forward */
  add(issued, atMs) {
    const last = this.#last;
    this.#last = { issued, atMs };
    if (last === undefined || atMs <= last.atMs) return;
    // A service that was restarted counts from zero again.
    const more = issued >= last.issued ? issued - last.issued : issued;
    this.samples.push({ atMs, rate: (more * 1_000) / (atMs - last.atMs) });
    this.samples = this.samples.filter((sample) => atMs - sample.atMs <= this.keepMs);
  }

  /**
   * The counter cannot be read: there is no rate until it has been read twice again. A rate over the whole time would be
   * one that the service never had.
   */
  addGap() {
    const last = this.samples.at(-1);
    this.#last = undefined;
    if (last?.rate !== undefined) this.samples.push({ atMs: last.atMs, rate: undefined });
  }

  /** The samples between two gaps are one run; a run has one sample at least. */
  get runs() {
    const runs = [[]];
    for (const sample of this.samples) {
      if (sample.rate === undefined) runs.push([]);
      else runs.at(-1).push(sample);
    }
    return runs.filter((run) => run.length > 0);
  }

  /** The last rate; undefined before the first and after a gap. */
  get now() {
    return this.samples.at(-1)?.rate;
  }

  get highest() {
    return Math.max(0, ...this.samples.map(({ rate }) => rate ?? 0));
  }
}

const SPAN_MS = 60_000;
const HEIGHT = 200;
const EDGE = { top: 8, right: 6, bottom: 24, left: 48 };
const TABLE_ROWS = 10;

/** The chart of IDs per second over the last minute; its table and its label say the same in words. */
export function rateChart() {
  const box = document.getElementById('chart');
  const rates = new RateSamples(SPAN_MS);

  const draw = () => {
    const width = Math.max(box.clientWidth, 200);
    const top = roundUp(rates.highest);
    const end = rates.samples.at(-1)?.atMs ?? 0;
    const x = (atMs) => EDGE.left + (1 - (end - atMs) / SPAN_MS) * (width - EDGE.left - EDGE.right);
    const y = (rate) => EDGE.top + (1 - rate / top) * (HEIGHT - EDGE.top - EDGE.bottom);
    const ground = y(0);
    const chart = svgElement('svg', {
      viewBox: `0 0 ${width} ${HEIGHT}`,
      width,
      height: HEIGHT,
      'aria-hidden': 'true',
    });
    for (const rate of [0, top / 2, top]) {
      chart.append(
        svgElement('line', { class: 'grid', x1: EDGE.left, x2: width - EDGE.right, y1: y(rate), y2: y(rate) }),
        svgElement('text', { x: EDGE.left - 8, y: y(rate) + 4, 'text-anchor': 'end' }, axisCount(rate)),
      );
    }
    const labels = [
      [EDGE.left, 'a minute ago', 'start'],
      [width - EDGE.right, 'now', 'end'],
    ];
    for (const [at, words, anchor] of labels) {
      chart.append(svgElement('text', { x: at, y: HEIGHT - 4, 'text-anchor': anchor }, words));
    }
    for (const run of rates.runs.filter(({ length }) => length > 1)) {
      const points = run.map(({ atMs, rate }) => `${x(atMs).toFixed(1)},${y(rate).toFixed(1)}`);
      const [from, to] = [run[0], run.at(-1)].map(({ atMs }) => x(atMs));
      chart.append(
        svgElement('path', { class: 'area', d: `M${from},${ground}L${points.join('L')}L${to},${ground}Z` }),
        svgElement('polyline', { class: 'line', points: points.join(' ') }),
      );
    }
    if (rates.now !== undefined)
      chart.append(svgElement('circle', { class: 'tip', cx: x(end), cy: y(rates.now), r: 3.5 }));
    box.replaceChildren(chart);
    box.setAttribute('role', 'img');
    box.setAttribute('aria-label', spoken(rates));
  };

  const fillTable = () => {
    const now = Date.now();
    const end = rates.samples.at(-1)?.atMs ?? 0;
    const rows = rates.samples
      .filter(({ rate }) => rate !== undefined)
      .slice(-TABLE_ROWS)
      .reverse()
      .map(({ atMs, rate }) =>
        element(
          'tr',
          {},
          element('td', {}, `${clock(new Date(now - (end - atMs)))} UTC`),
          element('td', { class: 'number' }, count(Math.round(rate))),
        ),
      );
    document.querySelector('#chart-table tbody').replaceChildren(...rows);
  };

  new ResizeObserver(draw).observe(box);
  draw();
  const show = () => {
    setText(document.getElementById('chart-now'), rates.now === undefined ? '–' : count(Math.round(rates.now)));
    draw();
    fillTable();
  };
  return {
    add: (issued, atMs) => {
      rates.add(issued, atMs);
      show();
    },
    /** The service does not tell the counter: its last rate is not the rate of now. Safe to call twice. */
    addGap: () => {
      rates.addGap();
      show();
    },
  };
}

function spoken(rates) {
  if (rates.samples.length === 0) return 'No numbers yet';
  const [now, highest] = [rates.now ?? 0, rates.highest].map((rate) => count(Math.round(rate)));
  if (rates.now === undefined) return `No rate now; the highest of the last minute is ${highest}`;
  return `Now ${now} IDs per second; the highest of the last minute is ${highest}`;
}

/** The next of 10, 20, 50, 100, … */
function roundUp(rate) {
  const power = 10 ** Math.floor(Math.log10(Math.max(rate, 10)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= rate);
}
