import { nsPerId } from '../parts/measure.mjs';
import { openService, WIDE } from '../parts/service.mjs';

export const question = 'What do metrics cost the one who takes IDs?';

const CODES = 512;
/** Far more often than anybody collects. */
const COLLECT_EVERY_MS = 50;
const COLLECTIONS = 100;

export async function measure() {
  const bare = await openService(WIDE, { isObserved: false });
  const observed = await openService(WIDE);
  const codes = Array.from({ length: CODES }, (_, index) => `code ${index}`);
  const caller = ({ ids }) => {
    let turn = 0;
    return () => ids.nextId(codes[(turn = (turn + 1) & (CODES - 1))]);
  };
  const collecting = setInterval(() => void observed.collect(), COLLECT_EVERY_MS);
  const ns = await nsPerId({ bare: caller(bare), observed: caller(observed) }, { rounds: 15 });
  clearInterval(collecting);

  const begun = performance.now();
  for (let count = 0; count < COLLECTIONS; count++) await observed.collect();
  const collectionUs = ((performance.now() - begun) / COLLECTIONS) * 1_000;
  await bare.close();
  await observed.close();
  return {
    figures: [
      { name: `nextId(code), ${CODES} codes, without metrics`, value: ns.bare, unit: 'ns' },
      { name: `nextId(code), ${CODES} codes, observed`, value: ns.observed, unit: 'ns' },
      { name: 'one collection', value: collectionUs, unit: 'us' },
    ],
    ratios: [{ name: 'nextId(code), observed / without metrics', value: ns.observed / ns.bare, atMost: 1.05 }],
  };
}
