import { readDocument } from './typescript-blocks.js';
import { withEngineTable } from './engine-table.js';

it('docs/engines.md has the table of what runs have recorded', () => {
  const document = readDocument('docs/engines.md');
  expect(document).toContain('<!-- engines -->');
  // Run `npm run docs` when it differs.
  expect(withEngineTable(document)).toBe(document);
});
