import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allBlocks, placeOf } from './documents.js';

const ROOT = join(__dirname, '../../..');

/** The programs that are shown, by their places: the blocks of all documents, and the examples and applications. */
const PROGRAMS: readonly (readonly [place: string, text: string])[] = [
  ...allBlocks('ts', 'typescript', 'js').map((block) => [placeOf(block), block.text] as const),
  ...['examples', 'apps'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => {
      const path = `${folder}/${name}/src/main.ts`;
      return [path, readFileSync(join(ROOT, path), 'utf8')] as const;
    }),
  ),
];

/** What a program opens and leaves open; a lease then stays until it expires. */
function leftOpen(text: string): string[] {
  const opened = [...text.matchAll(/(?:\b(?:const|let) (\w+) = )?(?:await )?\bopenIdService\(/g)];
  const created = [...text.matchAll(/(?:\b(?:const|let) (\w+) = )?(?:await )?\bNestFactory\.create\w*\(/g)];
  const closes = (name: string | undefined): boolean => name !== undefined && text.includes(`await ${name}.close()`);
  return [
    ...opened.filter(([, name]) => !closes(name)),
    ...created.filter(([, name]) => !closes(name) && !text.includes('.enableShutdownHooks(')),
  ].map(([call]) => call);
}

describe('Every program that the documents show', () => {
  it('closes the service that it opens', () => {
    const opening = PROGRAMS.filter(([, text]) => /\b(openIdService|NestFactory\.create\w*)\(/.test(text));
    expect(opening.length).toBeGreaterThan(15);
    expect(opening.flatMap(([place, text]) => leftOpen(text).map((call) => `${place}: ${call}`))).toEqual([]);
  });
});

it.each([
  ['const ids = await openIdService({ dbConfig: url });\nawait ids.close();', []],
  ['const ids = await openIdService({ dbConfig: url });\nawait db.close();', ['const ids = await openIdService(']],
  ['await openIdService({ dbConfig: url });\nawait ids.close();', ['await openIdService(']],
  ['const app = await NestFactory.create(AppModule);\napp.enableShutdownHooks();', []],
  ['const app = await NestFactory.create(AppModule);\nawait app.listen(0);', ['const app = await NestFactory.create(']],
])('%j leaves open: %j', (text, found) => {
  expect(leftOpen(text)).toEqual(found);
});
