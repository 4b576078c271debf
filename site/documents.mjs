import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..');
export const read = (path) => readFileSync(resolve(ROOT, path), 'utf8');

const { repository } = JSON.parse(read('package.json'));
/** Where the sources can be read. */
export const REPOSITORY = repository.url.replace(/^git\+|\.git$/g, '');
const [owner, name] = new URL(REPOSITORY).pathname.slice(1).split('/');
/** The folder of the site, as GitHub Pages has it. */
export const BASE = `/${name}/`;
export const SITE = `https://${owner}.github.io${BASE}`;

const titleOf = (path) => /^# (.*)$/m.exec(read(path))[1].replaceAll('`', '');

/** The groups of docs/README.md with their documents, in its order. */
export function groups() {
  const sections = read('docs/README.md').split(/^## /m).slice(1);
  return sections.map((section) => ({
    name: section.slice(0, section.indexOf('\n')),
    documents: [...section.matchAll(/^\| \[([^\]]+)\]\(\1\) \| (.*?) \|$/gm)].map(([, file, about]) => ({
      path: `docs/${file}`,
      page: `docs/${file.replace(/\.md$/, '')}`,
      title: titleOf(`docs/${file}`),
      about,
    })),
  }));
}

/** Where the generator finds them: below its own packages. */
export const COPIES = resolve(import.meta.dirname, 'dist/pages');

/** Every document of the site, the start page first. */
export const PAGES = [
  'README.md',
  'docs/README.md',
  ...groups().flatMap(({ documents }) => documents.map(({ path }) => path)),
];
