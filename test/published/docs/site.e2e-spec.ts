import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../../support/processes/run.js';
import { lastLines } from '../../support/servers/run-command.js';
import { MissingForTests } from '../../support/jest/missing-for-tests.js';
import { DOCUMENTS } from './documents.js';

const ROOT = resolve(__dirname, '../../..');
const SITE = join(ROOT, 'site/dist/site');
/** It fetches packages, and has two cores at the worst that others use too. */
const DEADLINE_MS = 600_000;
/** What npm says where no registry answers. */
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E50\d)\b/;

const built = (path: string): string => readFileSync(join(SITE, path), 'utf8');
/** Paths below `docs`. */
const documents = DOCUMENTS.filter((path) => path.startsWith('docs/') && path !== 'docs/README.md').map((path) =>
  path.slice('docs/'.length),
);

async function node(...args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  return run([process.execPath, ...args], { cwd: join(ROOT, 'site'), diesBy: false, withinMs: DEADLINE_MS });
}

beforeAll(async () => {
  const command = ['npm', 'run', '--silent', 'site'] as const;
  const { code, stdout, stderr } = await run(command, { cwd: ROOT, diesBy: false, withinMs: DEADLINE_MS });
  if (code === 0) return;
  if (UNREACHABLE.test(stderr)) throw new MissingForTests('The packages of the site', 'no registry answers npm ci');
  throw new Error(`npm run site ended with ${code}${lastLines(`${stdout}\n${stderr}`, 20)}`);
}, DEADLINE_MS);

describe('npm run site', () => {
  it('makes a page of README.md and of each document', () => {
    expect(built('index.html')).toContain('<h1 id="raindrop"');
    const pages = readdirSync(join(SITE, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.html'),
    );
    expect(pages.sort()).toEqual([...documents.map((name) => name.replace('.md', '.html')), 'index.html'].sort());
  });

  it('has the groups of docs/README.md at the side, each with its documents', () => {
    const side = /<aside class="VPSidebar[^]*?<\/aside>/.exec(built('index.html'))![0];
    const groups = [...side.matchAll(/<h2 [^>]*>([^<]+)</g)].map(([, name]) => name);
    const listed = readFileSync(join(ROOT, 'docs/README.md'), 'utf8').matchAll(/^## (.+)$/gm);
    expect(groups).toEqual([...listed].map(([, name]) => name));
    for (const name of documents) expect(side).toContain(`/docs/${name.replace('.md', '.html')}"`);
  });

  it('finds what stands in a document', () => {
    const chunks = join('assets', 'chunks');
    const index = readdirSync(join(SITE, chunks)).filter((name) => name.startsWith('@localSearchIndex'));
    expect(index).toHaveLength(1);
    expect(built(join(chunks, index[0]!))).toContain('sequence_exhausted');
  });

  it('shows pictures, and diagrams as such', () => {
    expect(built('docs/how-it-works.html')).toMatch(/<img src="\/raindrop\/assets\/two-lanes\.[^"]*\.svg"/);
    expect(built('docs/how-it-works.html')).not.toContain('language-mermaid');
  });

  it('leads to the repository for what is no page', () => {
    const repository = 'https://github.com/raindrop-ids/raindrop';
    expect(built('index.html')).toContain(`href="${repository}/blob/main/CONTRIBUTING.md"`);
    expect(built('index.html')).toContain(`href="${repository}/tree/main/apps/demo"`);
  });

  it('lists the documents in llms.txt, and has them all in llms-full.txt', () => {
    const links = [...built('llms.txt').matchAll(/\/raindrop\/(docs\/[\w/-]+\.md)\): ./g)].map(([, path]) => path!);
    expect([...links].sort()).toEqual(documents.map((name) => `docs/${name}`).sort());
    for (const path of ['README.md', ...links]) {
      const source = readFileSync(join(ROOT, path), 'utf8');
      expect(built(path)).toBe(source);
      expect(built('llms-full.txt')).toContain(source);
    }
  });
});

describe('A dead link fails it', () => {
  it.each(['docs/nothing.md', '../elsewhere.md'])('in a document: %s', async (link) => {
    const { code, stderr } = await node(
      '--input-type=module',
      '--eval',
      `import { targetOf } from './links.mjs'; targetOf('README.md', '${link}');`,
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining(`README.md: ${link} leads nowhere`)]);
  });

  it.each(['nothing.html', '#nothing', '/elsewhere/'])('in a page: %s', async (link) => {
    const page = join(SITE, 'docs', 'control.html');
    writeFileSync(page, `<a href="${link}">x</a>`);
    try {
      const { code, stderr } = await node('check.mjs');
      expect([code, stderr]).toEqual([1, `Dead links:\ndocs/control.html: ${link}\n`]);
    } finally {
      rmSync(page);
    }
  });
});
