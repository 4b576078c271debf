/** After the build: every link and every picture of a page leads to something that was built, headings included. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { BASE } from './documents.mjs';

const DIST = resolve(import.meta.dirname, 'dist/site');
const pages = readdirSync(DIST, { recursive: true }).filter((path) => path.endsWith('.html'));
const texts = new Map(pages.map((path) => [posix.normalize(path), readFileSync(resolve(DIST, path), 'utf8')]));

function fileOf(page, link) {
  const [address] = link.split(/[?#]/);
  if (address === '') return page;
  const path = address.startsWith('/') ? address.slice(BASE.length) : posix.join(posix.dirname(page), address);
  const candidates = [path, `${path}.html`, posix.join(path, 'index.html')];
  return candidates.find((each) => existsSync(resolve(DIST, each)) && statSync(resolve(DIST, each)).isFile());
}

function isDead(page, link) {
  if (/^[a-z]+:/.test(link)) return false;
  if (link.startsWith('/') && !link.startsWith(BASE)) return true;
  const file = fileOf(page, link);
  if (file === undefined) return true;
  const anchor = link.split('#')[1];
  return anchor !== undefined && anchor !== '' && !texts.get(file)?.includes(` id="${decodeURIComponent(anchor)}"`);
}

const dead = [...texts].flatMap(([page, text]) =>
  [...text.matchAll(/ (?:href|src)="([^"]+)"/g)]
    .filter(([, link]) => isDead(page, link))
    .map(([, link]) => `${page}: ${link}`),
);
if (dead.length > 0) {
  console.error(`Dead links:\n${[...new Set(dead)].join('\n')}`);
  process.exitCode = 1;
}
