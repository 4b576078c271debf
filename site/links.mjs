import { existsSync, statSync } from 'node:fs';
import { posix, relative, resolve } from 'node:path';
import { COPIES, PAGES, REPOSITORY, ROOT } from './documents.mjs';

/** Anchors as GitHub makes them, so that a link leads to the same heading in both places. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');

/** The address of a page in the site's folder: `docs/README.md` is the index of its folder. */
export const addressOf = (path) => '/' + path.replace(/(README)?\.md$/, (end) => (end === '.md' ? '.html' : ''));

/**
 * Where a link of a document leads on the site: to another page, or to the file in the repository.
 * @throws Error for what does not exist
 */
export function targetOf(from, link) {
  if (/^[a-z]+:|^#/.test(link)) return link;
  const [file, anchor] = link.split('#');
  const path = posix.join(posix.dirname(from), file);
  if (path.startsWith('..') || !existsSync(resolve(ROOT, path))) throw new Error(`${from}: ${link} leads nowhere`);
  const end = anchor === undefined ? '' : `#${anchor}`;
  if (PAGES.includes(path)) return addressOf(path) + end;
  const kind = statSync(resolve(ROOT, path)).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${path}${end}`;
}

/** For markdown-it: turns the links of a document into those of the site. */
export function withSiteLinks(md) {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const inline = tokens.flatMap(({ children }) => children ?? []);
    for (const token of inline.filter(({ type }) => type === 'link_open')) {
      token.attrSet('href', targetOf(relative(COPIES, env.path), decodeURI(token.attrGet('href'))));
    }
  });
}
