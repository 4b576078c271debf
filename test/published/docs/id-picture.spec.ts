import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SHOWN_ID } from './id-picture.js';
import { readDocument } from './typescript-blocks.js';

const picture = readFileSync(join(__dirname, '../../../docs/images/id.svg'), 'utf8');

it('docs/images/id.svg shows the 64 bits of the ID that the documents take apart', () => {
  const bits = [...picture.matchAll(/>([01])<\/text>/g)].map(([, bit]) => bit);
  expect(BigInt(`0b${bits.join('')}`)).toBe(BigInt(SHOWN_ID));
  for (const document of ['README.md', 'docs/how-it-works.md']) expect(readDocument(document)).toContain(SHOWN_ID);
});
