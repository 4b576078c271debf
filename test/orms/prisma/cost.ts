/**
 * What an ID adds to an insert of 1,000 rows: inserts with IDs at hand and inserts that get theirs take turns. Prints the
 * medians and the least in milliseconds, and the median of what a pair of turns differs by, in percent. Run it on an idle
 * machine: `node test/orms/prisma/dist/cost.js '{"database":{...}}'`.
 */
import { openIdService } from '@raindrop/node';
import { connect, dbConfig, given, makeTables, snowflakes } from './shop.js';

const { turns = 40 } = given as { turns?: number };
const ROWS = 1_000;

const plain = await connect('bigint');
await makeTables(plain, 'bigint');
const ids = await openIdService({ dbConfig });
const filling = plain.$extends(snowflakes(ids));
let count = 0;
/** As long as those of the service. */
let free = 30_000_000_000_000_000n;

async function turn(isAtHand: boolean): Promise<number> {
  const numbers = Array.from({ length: ROWS }, () => `row ${++count}`);
  const atHand = numbers.map((number) => ({ id: free++, number }));
  const data = numbers.map((number) => ({ number }));
  const began = performance.now();
  if (isAtHand) await plain.order.createMany({ data: atHand });
  else await filling.order.createMany({ data });
  const took = performance.now() - began;
  await plain.order.deleteMany();
  return took;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
for (let warm = 0; warm < 10; warm++) await turn(warm % 2 === 0);
const pairs: [atHand: number, filled: number][] = [];
for (let index = 0; index < turns; index++) {
  if (index % 2 === 0) pairs.push([await turn(true), await turn(false)]);
  else {
    const filled = await turn(false);
    pairs.push([await turn(true), filled]);
  }
}
await plain.$disconnect();
await ids.close();
const [atHand, filled] = [pairs.map(([ms]) => ms), pairs.map(([, ms]) => ms)];
console.log(
  JSON.stringify({
    atHandMs: median(atHand).toFixed(2),
    filledMs: median(filled).toFixed(2),
    leastAtHandMs: Math.min(...atHand).toFixed(2),
    leastFilledMs: Math.min(...filled).toFixed(2),
    addsPercent: (100 * (median(pairs.map(([one, other]) => other / one)) - 1)).toFixed(1),
  }),
);
