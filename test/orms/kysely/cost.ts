/**
 * What an ID adds to an insert of 1,000 rows: inserts with IDs at hand and inserts that get theirs take turns. Prints the
 * medians and the least in milliseconds, and the median of what a pair of turns differs by, in percent. Run it on an idle
 * machine: `node test/orms/kysely/dist/cost.js '{"database":{...},"release":"0.29"}'`.
 */
import { openIdService } from '@raindrop/node';
import { withSnowflakes } from '@raindrop/orm/kysely';
import { dbConfig, given, Kysely, openShop, plainDialect, type Shop } from './shop.js';

const { turns = 40 } = given as { turns?: number };
const ROWS = 1_000;
const INSERTS_A_TURN = 3;

const shop = await openShop('text');
const ids = await openIdService({ dbConfig });
const filling = new Kysely<Shop>({
  dialect: withSnowflakes(plainDialect('text'), { ids, columns: { orders: ['id'] } }),
});
const plain = new Kysely<Shop>({ dialect: plainDialect('text') });
let count = 0;
/** As long as those of the service. */
let free = 30_000_000_000_000_000n;
const rowsWith = (isAtHand: boolean): { title: string }[] =>
  Array.from({ length: ROWS }, () => {
    const title = `row ${++count}`;
    return isAtHand ? { id: String(free++), title } : { title };
  });

async function turn(isAtHand: boolean): Promise<number> {
  const db = isAtHand ? plain : filling;
  const inserts = Array.from({ length: INSERTS_A_TURN }, () => rowsWith(isAtHand));
  const began = performance.now();
  for (const rows of inserts) await db.insertInto('orders').values(rows).execute();
  const took = (performance.now() - began) / INSERTS_A_TURN;
  await shop.db.deleteFrom('orders').execute();
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
await plain.destroy();
await filling.destroy();
await ids.close();
await shop.close();
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
