import { mkdirSync, writeFileSync } from 'node:fs';
import { init } from 'echarts';
import { DATABASES } from './databases.mjs';
import { KINDS } from './kinds.mjs';

const IMAGES = new URL('../../docs/images/', import.meta.url);
const WIDTH = 960;

/** Apart for the colour-blind too. */
const COLOURS = { snowflake: '#0072b2', 'auto-increment': '#999999', 'uuid-v7': '#e69f00', 'uuid-v4': '#d55e00' };

/** What a database's bytes are made of. */
const PARTS = [
  { name: 'table', part: 'table', colour: '#0072b2' },
  { name: 'index of the key', part: 'key', colour: '#e69f00' },
  { name: 'index on created_at', part: 'createdAtIndex', colour: '#cccccc' },
];

// Without a browser echarts guesses how wide a text is.
const LEGEND = { bottom: 0, itemGap: 30, icon: 'roundRect' };

export function drawPlots(summaries) {
  mkdirSync(IMAGES, { recursive: true });
  draw('databases-insert.svg', 360, insertTimes(summaries));
  draw('databases-size.svg', 400, sizes(summaries));
  draw('databases-rate.svg', 400, rates(summaries));
}

function draw(name, height, option) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({ animation: false, backgroundColor: '#fff', textStyle: { fontFamily: 'sans-serif' }, ...option });
  // echarts numbers its styles through the whole process.
  const svg = chart.renderToSVGString().replaceAll(/zr\d+-/g, 'zr-');
  writeFileSync(new URL(name, IMAGES), `${svg}\n`);
  chart.dispose();
}

function insertTimes(summaries) {
  const databases = DATABASES.filter(({ name }) => summaries.some(({ database }) => database === name));
  const [{ rows }] = summaries;
  return {
    title: titled(`Time to insert ${rows.toLocaleString('en')} rows, seconds`),
    legend: LEGEND,
    grid: { top: 60, bottom: 60, left: 50, right: 20 },
    xAxis: { type: 'category', data: databases.map(({ title }) => title) },
    yAxis: { type: 'value' },
    series: KINDS.map(({ name: kind, title }) => ({
      name: title,
      type: 'bar',
      color: COLOURS[kind],
      label: { show: true, position: 'top' },
      data: databases.map(({ name }) => {
        const found = summaries.find((summary) => summary.database === name && summary.kind === kind);
        return found === undefined ? null : Number((found.insertMs / 1e3).toFixed(1));
      }),
    })),
  };
}

function sizes(summaries) {
  return panels('Table and indexes, MB', summaries, {
    xAxis: (found) => ({
      type: 'category',
      data: found.map(({ kindTitle }) => kindTitle.replace('-', '-\n')),
      axisLabel: { interval: 0, fontSize: 11 },
    }),
    series: (found, index) =>
      PARTS.map(({ name, part, colour }) => ({
        name,
        type: 'bar',
        stack: `bytes of ${index}`,
        color: colour,
        data: found.map(({ bytes }) => Number((bytes[part] / 1e6).toFixed(1))),
      })),
  });
}

function rates(summaries) {
  return panels('Rows inserted per second, over the rows inserted', summaries, {
    xAxis: (found) => ({
      type: 'value',
      max: Math.max(...found.map(({ rows }) => rows)),
      axisLabel: { formatter: thousands, hideOverlap: true },
    }),
    yAxis: { axisLabel: { formatter: thousands } },
    series: (found) =>
      found.map(({ kind, kindTitle, rowsPerSecond }) => ({
        name: kindTitle,
        type: 'line',
        showSymbol: false,
        color: COLOURS[kind],
        data: rowsPerSecond,
      })),
  });
}

/** One panel beside the other, a database in each. */
function panels(title, summaries, { xAxis, yAxis = {}, series }) {
  const all = DATABASES.map(({ name }) => summaries.filter(({ database }) => database === name)).filter(
    ({ length }) => length > 0,
  );
  const width = (WIDTH - 20) / all.length;
  const left = (index) => 10 + index * width;
  return {
    title: [
      titled(title),
      ...all.map(([{ databaseTitle }], index) => ({
        text: databaseTitle,
        left: left(index) + width / 2,
        top: 40,
        textAlign: 'center',
        textStyle: { fontSize: 13 },
      })),
    ],
    legend: LEGEND,
    grid: all.map((_, index) => ({ left: left(index) + 45, width: width - 65, top: 80, bottom: 65 })),
    xAxis: all.map((found, index) => ({ gridIndex: index, ...xAxis(found) })),
    yAxis: all.map((_, index) => ({ gridIndex: index, type: 'value', ...yAxis })),
    series: all.flatMap((found, index) =>
      series(found, index).map((each) => ({ ...each, xAxisIndex: index, yAxisIndex: index })),
    ),
  };
}

const thousands = (count) => (count === 0 ? '0' : `${count / 1e3}k`);

function titled(text) {
  return { text, left: 'center', top: 10, textStyle: { fontSize: 15 } };
}
