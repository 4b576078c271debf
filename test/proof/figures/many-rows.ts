import type { DatabaseKind } from '../../support/servers/test-databases.js';
import { openStore } from '../../support/stores/open-store.js';
import { oneByOne, type Bench, type Figure, type Measurement } from './figure.js';
import { startModule } from './module-app.js';
import { median, showTimes } from './show-times.js';

const ROWS = 1_023;
const TIMES = 10;

/** The largest table that is made by itself: filled within a second, and a worker from it within 100 ms. */
export const manyRows: Figure = {
  name: 'many-rows',
  measure: (bench) => oneByOne(bench, (kind) => measureOne(kind, bench)),
};

async function measureOne(kind: DatabaseKind, bench: Bench): Promise<Measurement[]> {
  const { options } = await bench.database(kind);
  const store = openStore(options);
  const fillBeganMs = performance.now();
  await store.prepare({ min: 1, max: ROWS });
  const fillMs = performance.now() - fillBeganMs;
  const { rows } = await store.readTable();
  await store.close();

  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const beganMs = performance.now();
    const app = await startModule(options, { workIdLength: 10 });
    app.ids.nextId();
    times.push(performance.now() - beganMs);
    await app.close();
  }
  return [
    {
      figure: `${ROWS} rows: table created and filled`,
      database: kind,
      target: 'within 1 s',
      measured: `${fillMs.toFixed(0)} ms, ${rows.length} rows`,
      ok: fillMs <= 1_000 && rows.length === ROWS,
    },
    {
      figure: `${ROWS} rows: start of the module to the first ID`,
      database: kind,
      target: 'within 100 ms (median)',
      measured: showTimes(times),
      ok: median(times) <= 100,
    },
  ];
}
