import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument } from '../typescript-blocks.js';
import { clockRun } from './clock-run.js';
import { TAKEN } from './key-picture.js';
import { PICTURES } from './pictures.js';
import { WIDTH } from './svg.js';

const IMAGES = join(__dirname, '../../../../docs/images');
/** A phone's width without what is beside a picture, and the smallest letters that can be read there. */
const [PHONE, LETTERS] = [343, 9.5];

describe.each(Object.entries(PICTURES))('docs/images/%s', (name, draw) => {
  it('is what its script draws (npm run docs writes it)', async () => {
    expect(readFileSync(join(IMAGES, name), 'utf8')).toBe(await draw());
  });
});

it.each(['topology.svg', 'two-lanes.svg', 'which-key.svg'])(
  '%s can be read on a phone and in the dark',
  async (name) => {
    const svg = await PICTURES[name]!();
    expect(svg).toContain('prefers-color-scheme:dark');
    const sizes = [...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
    expect(Math.min(...sizes) * (PHONE / WIDTH)).toBeGreaterThan(LETTERS);
  },
);

describe('The picture of the two lanes', () => {
  it('is of a run in which the clock goes back twice, and no ID comes twice', async () => {
    const calls = await clockRun();
    const steps = calls.slice(1).map(({ clock }, index) => clock - calls[index]!.clock);
    expect(steps.filter((step) => step < 0)).toHaveLength(2);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  });

  it('shows a flip, and a hold', async () => {
    const calls = await clockRun();
    expect(new Set(calls.map(({ lane }) => lane))).toEqual(new Set([0, 1]));
    expect(calls.filter(({ clock, tick }) => clock < tick).length).toBeGreaterThan(1);
  });

  it('has a mark for each call', async () => {
    const svg = await PICTURES['two-lanes.svg']!();
    const inLegend = 2;
    expect(svg.match(/class="(first|second)"/g)).toHaveLength((await clockRun()).length + inLegend);
  });
});

it('The tree of keys names the kinds of keys of the first table of docs/choosing.md', () => {
  const [table] = /^\| you need \| use \|\n[\s\S]*?\n\n/m.exec(readDocument('docs/choosing.md'))!;
  const rows = table.trim().split('\n').slice(2);
  const cells = rows.map((row) =>
    row
      .split('|')[2]!
      .trim()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'),
  );
  expect([...TAKEN].sort()).toEqual(cells.map((cell) => cell.replace(/, and .*/, '')).sort());
});
