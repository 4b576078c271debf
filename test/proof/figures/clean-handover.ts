import type { DatabaseKind } from '../../support/servers/test-databases.js';
import { oneByOne, type Bench, type Figure, type Measurement } from './figure.js';
import { startModule } from './module-app.js';
import { median, showTimes } from './show-times.js';

const ROUNDS = 20;
const LIMIT_MS = 50;

/** A clean shutdown: the next one has the same row, and larger IDs, within 50 ms from the beginning of the shutdown. */
export const cleanHandover: Figure = {
  name: 'clean-handover',
  measure: (bench) => oneByOne(bench, (kind) => measureOne(kind, bench)),
};

async function measureOne(kind: DatabaseKind, bench: Bench): Promise<Measurement> {
  const { options } = await bench.database(kind);
  const only = { serviceMinWorkId: 7, serviceMaxWorkId: 7 };
  let app = await startModule(options, only);
  const times: number[] = [];
  let ascending = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const last = app.ids.nextIds(1_000).at(-1)!;
    const beganMs = performance.now();
    await app.close();
    app = await startModule(options, only);
    const next = app.ids.nextId();
    times.push(performance.now() - beganMs);
    if (next > last && app.ids.workerId === 7) ascending++;
  }
  await app.close();
  return {
    figure: 'clean handover of the same row, shutdown and start of the module',
    database: kind,
    target: `at most ${LIMIT_MS} ms (median), larger IDs`,
    measured: `${showTimes(times)}; larger IDs ${ascending} of ${ROUNDS} times`,
    ok: median(times) <= LIMIT_MS && ascending === ROUNDS,
  };
}
