import { readDocument } from './typescript-blocks.js';
import { withEngineTables } from './engine-table.js';

it.each([
  ['docs/engines.md', '<!-- engines -->'],
  ['docs/contributing/proofs.md', '<!-- engine runs -->'],
])('%s has the table of what runs have recorded', (path, marker) => {
  const document = readDocument(path);
  expect(document).toContain(marker);
  // Run `npm run docs` when it differs.
  expect(withEngineTables(document)).toBe(document);
});
