import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENTS } from './documents.js';
import { readDocument } from './typescript-blocks.js';

const ROOT = join(__dirname, '../../..');
const PAGE = 'apps/id-service/public';
/** A command that would take a package of ours from npm, where anybody may own its name. */
const FETCHES =
  /\b(npm (install|i|add|exec)|npx|nest add|pnpm (add|dlx|i|install)|yarn (add|dlx))\b[^\n]*@raindrop\/(?!\w+ --skip-install)/;
const PACKS = 'npm run pack -- ../shop --write';

const files = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(html|js|mjs|svg)$/.test(name) && !/\b(node_modules|dist)\b/.test(name))
    .map((name) => `${folder}/${name}`);
const paragraphs = (text: string): string[] => text.replace(/\\\n */g, '').split(/\n\s*\n/);

describe('As long as nothing is published', () => {
  it('the README alone says what to take from npm, on the day of the release', () => {
    const texts = [...DOCUMENTS.filter((each) => each !== 'CHANGELOG.md'), ...files(PAGE), ...files('site')];
    const found = texts.flatMap((file) =>
      paragraphs(readFileSync(join(ROOT, file), 'utf8'))
        .filter((each) => FETCHES.test(each.replace(/\n/g, ' ')) || FETCHES.test(each))
        .map((each) => `${file}: ${each.slice(0, 30)}`),
    );
    expect(found).toEqual(['README.md: **On the day of the release** ']);
  });

  it.each(['README.md', 'docs/getting-started.md', 'docs/orms.md', `${PAGE}/index.html`])(
    '%s says how to pack for an application',
    (file) => {
      expect(readDocument(file)).toContain(PACKS);
    },
  );

  it.each([
    ['npm install @raindrop/nestjs', true],
    ['npm i -D typeorm @raindrop/cli', true],
    ['npx nest add @raindrop/nestjs', true],
    ['npx nest add @raindrop/nestjs --skip-install', false],
    ['npx @raindrop/cli plan', true],
    ['pnpm add @raindrop/core', true],
    ['yarn add rxjs @raindrop/core', true],
    ['npm install @nestjs/typeorm', false],
    ["import { IdService } from '@raindrop/nestjs'", false],
  ])('is it a command that takes them from npm? %s: %s', (command, is) => {
    expect(FETCHES.test(command)).toBe(is);
  });
});
