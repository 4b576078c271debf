import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument } from './typescript-blocks.js';

/** Whoever adds a thing shortens another one; failovers, engines and stores of one’s own were worth 3,000, etcd 370, NATS 400. */
const MOST = 36_715;

/** Written by runs, of which each has one row. */
const ENGINES = /<!-- engines -->.*?<!-- \/engines -->/s;

/** As `wc -w` counts them. */
const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

it('README.md and the documents have few enough words to be read', () => {
  const docs = readdirSync(join(__dirname, '../../docs')).filter((name) => name.endsWith('.md'));
  const paths = ['README.md', ...docs.map((name) => `docs/${name}`)];
  const total = paths.reduce((sum, path) => sum + words(readDocument(path).replace(ENGINES, '')), 0);
  expect(total).toBeLessThanOrEqual(MOST);
});

it('words are counted as wc -w does', () => {
  expect(words(' | a |\n\n```ts\nb.c  d\n')).toBe(6);
});
