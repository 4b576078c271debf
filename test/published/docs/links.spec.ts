import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { DOCUMENTS } from './documents.js';
import { anchorOf } from './typescript-blocks.js';

const ROOT = resolve(__dirname, '../../..');
/** Paths below `docs`. */
const DOCS = DOCUMENTS.filter((path) => path.startsWith('docs/')).map((path) => path.slice('docs/'.length));

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Markdown without what is code: brackets there are no links, and `#` there is no heading. */
function prose(markdown: string): string {
  return markdown.replace(/^ *```[\s\S]*?^ *```$/gm, '').replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));
}

/** The anchors of all headings; repeats are numbered. */
function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const text = markdown.replace(/^ *```[\s\S]*?^ *```$/gm, '');
  for (const [, heading] of text.matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = anchorOf(heading!);
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Every link of a document to a place in this repository. */
function linksOf(path: string): string[] {
  const targets = [...prose(read(path)).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** What is wrong with a link; undefined when it leads somewhere. */
function problemOf(path: string, link: string): string | undefined {
  const [file, anchor] = link.split('#') as [string, string | undefined];
  const target = file === '' ? join(ROOT, path) : resolve(dirname(join(ROOT, path)), file);
  if (relative(ROOT, target).startsWith('..')) return `${link}: leads out of the repository`;
  if (!existsSync(target)) return `${link}: no such file`;
  if (anchor === undefined) return undefined;
  if (!statSync(target).isFile() || !target.endsWith('.md')) return `${link}: an anchor in what has no headings`;
  return anchorsOf(readFileSync(target, 'utf8')).has(anchor) ? undefined : `${link}: no such heading`;
}

it.each(DOCUMENTS)('every link of %s leads somewhere', (path) => {
  expect(linksOf(path).flatMap((link) => problemOf(path, link) ?? [])).toEqual([]);
});

it('notices what does not', () => {
  expect(linksOf('README.md').length).toBeGreaterThan(20);
  expect(problemOf('README.md', 'docs/nothing.md')).toMatch('no such file');
  expect(problemOf('docs/errors.md', '#no_such_code')).toMatch('no such heading');
  expect(problemOf('docs/errors.md', 'configuration.md#the-id')).toBeUndefined();
  expect([...anchorsOf('# A `b`, [c](d) & e_f!\n# x\n# x\n```sh\n# no\n```\n')]).toEqual(['a-b-c--e_f', 'x', 'x-1']);
});

it('docs/README.md lists every document once in its tables', () => {
  const listed = [...read('docs/README.md').matchAll(/^\| \[([^\]]+)\]\(\1\) \|/gm)].map(([, name]) => name!);
  expect([...listed].sort()).toEqual(DOCS.filter((name) => name !== 'README.md').sort());
});
