import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, typescriptBlocks } from '../published/docs/typescript-blocks.js';
import { runSuite } from './suite.js';

// There is no server: documents, conditions and what is refused before it is sent.
it('the recipe of docs/drivers.md gives documents their IDs and refuses an upsert without one', async () => {
  const [recipe] = typescriptBlocks(readDocument('docs/drivers.md#mongoose'));
  const lines = recipe!.replace(/^import .*\n\n/, '');
  expect(readFileSync(join(__dirname, 'mongoose/recipe.ts'), 'utf8')).toContain(lines);
  expect(await runSuite('mongoose', 'recipe')).toEqual({ passed: 10 });
});
