import { openDatabases } from '../parts/databases.mjs';
import { orMoment } from '../parts/moment.mjs';
import { milliseconds, openService } from '../parts/service.mjs';
import { idleTurns, TurnWatch } from '../parts/turn-watch.mjs';

export const question = 'How many IDs a second for ten seconds, and how long does the event loop stand still?';

const SECONDS = orMoment(10, 0.2);
/** A turn of the event loop ends after so many: far less than a millisecond. */
const PER_TURN = 32_768;
const SEQUENCE_BITS = 17;
/** What the Java generators publish, IDs a second. */
const PUBLISHED = { westid: 4_032_258, 'uid-generator': 6_000_000 };

export async function measure() {
  // Not SQLite where there is another: its driver is synchronous.
  const { databases } = await openDatabases();
  const database = databases.at(-1);
  const { ids, close } = await openService(milliseconds(SEQUENCE_BITS), { database });
  const { layout } = ids;
  const target = new BigInt64Array(PER_TURN);
  const warm = performance.now();
  while (performance.now() - warm < SECONDS * 100) await ids.fillAsync(target);

  const watch = new TurnWatch();
  const begun = performance.now();
  let [issued, aheadMs] = [0, Number.NEGATIVE_INFINITY];
  while (performance.now() - begun < SECONDS * 1_000) {
    await ids.fillAsync(target);
    issued += PER_TURN;
    aheadMs = Math.max(aheadMs, layout.timeline.startOf(layout.unpack(target[PER_TURN - 1]).tick) - Date.now());
    await new Promise(setImmediate);
  }
  const perSecond = (issued / (performance.now() - begun)) * 1_000;
  const turns = watch.stop();
  await close();
  await Promise.all(databases.map(({ drop }) => drop()));
  const idle = await idleTurns(SECONDS / 2);
  const note = `median of ${SECONDS} seconds; lease on ${database.name}`;
  const published = Object.entries(PUBLISHED).map(([name, rate]) => {
    return { name: `fillAsync() / ${name}, published`, value: perSecond / rate, atLeast: 10 };
  });
  return {
    figures: [
      { name: 'fillAsync(), sustained', value: perSecond, unit: 'IDs/s' },
      { name: 'ahead of the clock at most', value: aheadMs, unit: 'ms', note: 'maxAheadMs allows 5' },
      { name: 'longest turn of the loop in a second', value: turns.usualMs, unit: 'ms', atMost: 2, note },
      { name: 'longest turn of all', value: turns.longestMs, unit: 'ms' },
      { name: 'a loop that only waits: in a second', value: idle.usualMs, unit: 'ms' },
      { name: 'a loop that only waits: of all', value: idle.longestMs, unit: 'ms' },
    ],
    ratios: [
      { name: 'fillAsync() / capacity of the layout', value: perSecond / layout.idsPerSecond, atLeast: 0.95 },
      ...published,
    ],
  };
}
