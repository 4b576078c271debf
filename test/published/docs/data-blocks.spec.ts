import { BadRequestException } from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';
import { parseDocument } from 'yaml';
import { DOCUMENTS, allBlocks, blocksOf, placeOf } from './documents.js';
import { readDocument } from './typescript-blocks.js';

/** Who runs the SQL of a document or of its section, on the databases that it is for, and how many blocks that test takes. */
const SQL_RUN_BY: Readonly<Record<string, readonly [test: string, blocks: number]>> = {
  'docs/coming-from/leaf.md': ['test/published/docs/migration-guide.int-spec.ts', 1],
  'docs/drivers.md': ['test/published/docs/drivers-guide.int-spec.ts', 3],
  'docs/leaving.md': ['test/published/docs/leaving-guide.int-spec.ts', 6],
  'docs/microservices.md': ['test/published/docs/microservices-guide.int-spec.ts', 1],
  'docs/migration.md': ['test/published/docs/migration-guide.int-spec.ts', 2],
  'docs/operations.md': ['test/published/docs/operations-guide.int-spec.ts', 2],
  'docs/sql.md': ['test/product/cli/sql-typed.int-spec.ts', 2],
  'docs/sql.md#ids-that-postgresql-makes-itself': ['test/product/cli/database-ids.int-spec.ts', 1],
};

/** TypeScript: compiled-blocks. Shell: shell-blocks. Pictures: GitHub draws `mermaid`; `text` is for people. */
const LANGUAGES = ['ts', 'sh', 'json', 'yaml', 'sql', 'prisma', 'mermaid', 'text'];

it('every block says what it is, in a language that is looked after', () => {
  const others = DOCUMENTS.flatMap(blocksOf).filter(({ language }) => !LANGUAGES.includes(language));
  expect(others.map((block) => `${placeOf(block)} ${block.language}`)).toEqual([]);
});

it('no code is hidden in a block without fences', () => {
  const code = /^ {4,}(npm|npx|node|curl|docker|kubectl|import|export|const|SELECT|INSERT|ALTER) /m;
  const bare = DOCUMENTS.map((document) => [document, readDocument(document).replace(/^( *)```[\s\S]*?^ *```$/gm, '')]);
  expect(bare.filter(([, text]) => code.test(text!)).map(([document]) => document)).toEqual([]);
});

it.each(allBlocks('json').map((block) => [placeOf(block), block.text]))('%s is JSON', (_, text) => {
  expect(JSON.parse(text)).toEqual(expect.any(Object));
});

it.each(allBlocks('yaml').map((block) => [placeOf(block), block.text]))('%s is YAML', (_, text) => {
  const { errors, warnings } = parseDocument(text);
  expect([...errors, ...warnings]).toEqual([]);
});

it('every block of SQL is run by a test that reads it from the document', () => {
  const documents = [...new Set(allBlocks('sql').map(({ document }) => document))];
  const taken = new Map<string, number>();
  for (const [place, [test, count]] of Object.entries(SQL_RUN_BY)) {
    const [document = ''] = place.split('#');
    taken.set(document, (taken.get(document) ?? 0) + count);
    expect(readDocument(test)).toContain(`readDocument('${place}')`);
    expect(readDocument(test)).toContain('```sql');
  }
  const blocks = documents.map((each) => [each, blocksOf(each).filter(({ language }) => language === 'sql').length]);
  expect(blocks.sort()).toEqual([...taken].sort());
});

it('docs/http.md shows what ParseIdPipe answers', async () => {
  const [answer] = blocksOf('docs/http.md').filter(({ language }) => language === 'json');
  const refused: unknown = await Promise.resolve()
    .then(() => new ParseIdPipe().transform('12abc', { type: 'param', data: 'id' }))
    .catch((error: unknown) => error);
  expect((refused as BadRequestException).getResponse()).toEqual(JSON.parse(answer!.text));
});
