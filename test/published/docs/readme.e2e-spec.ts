import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { COMPILER_OPTIONS } from './compiled-blocks.js';
import { blocksOf } from './documents.js';
import { differences } from './shown-answer.js';
import { readDocument, typescriptBlocks } from './typescript-blocks.js';
import { run } from '../../support/processes/run.js';

const README = readDocument('README.md');
const TSC = createRequire(__filename).resolve('typescript/bin/tsc');

describe('The README', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-readme-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('prints what it says that its example prints', async () => {
    const [example] = typescriptBlocks(readDocument('README.md#use'));
    const shown = blocksOf('README.md').find(({ text }) => text.startsWith('{"customer"'))!.text;
    mkdirSync(join(folder, 'src'));
    symlinkSync(resolve(__dirname, '../../../node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'src/main.ts'), example!);
    const compilerOptions = { ...COMPILER_OPTIONS, noEmit: false, rootDir: 'src', outDir: 'dist' };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    await run([process.execPath, TSC, '-p', folder], { cwd: folder });
    const { stdout, stderr } = await run([process.execPath, 'dist/main.js'], { cwd: folder });
    expect(stderr).toBe('');
    expect(differences(JSON.parse(shown), JSON.parse(stdout))).toEqual([]);
  });

  it('has both commands, the picture of an ID and why on its first screen', () => {
    const screen = README.split('\n').slice(0, 30).join('\n');
    for (const text of [
      'npm ci && npm start',
      'npm ci && npm test',
      '](docs/images/id.svg)',
      '**Why.**',
      '**Not for you**',
    ])
      expect(screen).toContain(text);
    expect(readFileSync(join(__dirname, '../../../docs/images/id.svg'), 'utf8')).toContain('<svg');
  });

  it('can be read in a few minutes', () => {
    expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });
});
