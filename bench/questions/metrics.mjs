import { observeIdService } from '@raindrop/nestjs/opentelemetry';
import { median } from 'simple-statistics';
import { nsPerId } from '../parts/measure.mjs';
import { orMoment } from '../parts/moment.mjs';
import { openService, WIDE } from '../parts/service.mjs';

export const question = 'What do metrics cost the one who takes IDs?';

const CODES = 512;
const ROUNDS = orMoment(15, 1);
/** Far more often than anybody collects. */
const COLLECT_EVERY_MS = 50;
const COLLECTIONS = orMoment(100, 1);

export async function measure() {
  const { ids, collect, close } = await openService(WIDE, { isObserved: false });
  const codes = Array.from({ length: CODES }, (_, index) => `code ${index}`);
  let turn = 0;
  const nextId = () => ids.nextId(codes[(turn = (turn + 1) & (CODES - 1))]);
  const time = async () => (await nsPerId({ nextId }, { rounds: 1 })).nextId;

  const collecting = setInterval(() => void collect(), COLLECT_EVERY_MS);
  const [bare, observed] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await time());
    const end = observeIdService(ids);
    observed.push(await time());
    end();
  }
  clearInterval(collecting);

  observeIdService(ids);
  const begun = performance.now();
  for (let count = 0; count < COLLECTIONS; count++) await collect();
  const collectionUs = ((performance.now() - begun) / COLLECTIONS) * 1_000;
  await close();
  const ratio = median(observed.map((ns, round) => ns / bare[round]));
  return {
    figures: [
      { name: `nextId(code), ${CODES} codes, without metrics`, value: median(bare), unit: 'ns' },
      { name: `nextId(code), ${CODES} codes, observed`, value: median(observed), unit: 'ns' },
      { name: 'one collection', value: collectionUs, unit: 'us' },
    ],
    ratios: [{ name: 'nextId(code), observed / without metrics', value: ratio, atMost: 1.05 }],
  };
}
