import { isFull } from '../../tier.js';
import { type Act, contains, inWords } from './acts.js';
import { search } from './search.js';
import { SEARCHES } from './searches.js';
import { World } from './world.js';

/** How deep `npm test` searches where nothing is to be found. */
const SHALLOW = 4;

jest.setTimeout(3_600_000);

const searches = Object.entries(SEARCHES).map(([name, each]) => ({ name, ...each }));
const played = searches.filter(({ isLong = false }) => isFull || !isLong);
const leaky = played.filter(({ finds }) => finds === 'a repeat');
const tight = played.filter(({ finds }) => finds === 'nothing');

describe('All schedules of a few acts', () => {
  it.each(leaky)('show within $depth acts how an ID repeats: $name. $about', async (each) => {
    const { findings, unconfirmed, depth } = await search(each, { depth: each.depth, findings: 1 });
    expect([findings.map(({ acts }) => acts.length), depth, unconfirmed]).toEqual([[each.depth], each.depth - 1, 0]);
  });

  it.each(tight)('repeat no ID: $name. $about', async (each) => {
    const within = isFull ? each.depth : SHALLOW;
    const { findings, unconfirmed, depth } = await search(each, { depth: within });
    expect(findings.map(({ acts }) => acts.map(inWords))).toEqual([]);
    expect([depth, unconfirmed]).toEqual([within, 0]);
  });
});

it('A schedule that is played from its start comes to the same repeat as one that goes on from a checkpoint', async () => {
  const { rules, past, ...each } = SEARCHES['layouts-not-named']!;
  const { findings } = await search({ rules, past, ...each }, { depth: each.depth, findings: 1 });
  const { acts, id, afterMs } = findings[0]!;
  const world = new World(rules);
  for (const act of [...past, ...acts]) await world.play(act);
  expect(await world.confirm()).toEqual({ id, afterMs });
});

it('A schedule contains another one with fewer acts in the same order', () => {
  const [backup, fence, wait]: Act[] = [{ kind: 'backup' }, { kind: 'fence' }, { kind: 'wait' }];
  expect(contains([backup!, wait!, fence!], [backup!, fence!])).toBe(true);
  expect(contains([fence!, backup!], [backup!, fence!])).toBe(false);
});
