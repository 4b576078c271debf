import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../support/processes/run.js';
import { errorsOf, writeProject } from './compiled-blocks.js';
import { allBlocks, type Block } from './documents.js';

const TSC = createRequire(__filename).resolve('typescript/bin/tsc');

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'raindrop-blocks-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the compiler has against these blocks. */
async function compile(blocks: readonly Block[]): Promise<string[]> {
  const project = join(folder, 'project');
  writeProject(project, blocks);
  const { stdout } = await run([process.execPath, TSC, '--pretty', 'false', '-p', project], { cwd: project });
  return errorsOf(stdout, blocks);
}

// The libraries are looked at as readers get them, built: npm run test:all builds them.
it('every TypeScript block of every document compiles', async () => {
  const blocks = allBlocks('ts');
  expect(blocks.length).toBeGreaterThan(75);
  const mistaken = { document: 'mistaken.md', line: 7, language: 'ts', text: '// a text\nids.nextNumber().trim();\n' };
  expect(await compile([...blocks, mistaken])).toEqual([
    "mistaken.md:9: error TS2339: Property 'trim' does not exist on type 'number'.",
  ]);
});

it('there is no other language for it', () => {
  expect(allBlocks('typescript', 'js', 'javascript', 'tsx', 'mjs', 'cjs')).toEqual([]);
});
