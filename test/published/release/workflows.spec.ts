import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseDocument } from 'yaml';

const ROOT = resolve(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const WORKFLOWS = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`);

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: string;
  readonly 'timeout-minutes'?: number;
  /** Another workflow, in place of steps. */
  readonly uses?: string;
  readonly steps?: readonly { readonly run?: string; readonly uses?: string; readonly with?: object }[];
}
interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

function parse<T>(path: string): T {
  const document = parseDocument(read(path));
  expect([path, ...document.errors, ...document.warnings]).toEqual([path]);
  return document.toJS() as T;
}

const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
const jobsOf = (path: string): Job[] => Object.values(parse<Workflow>(path).jobs);
const commandsOf = (path: string): string[] =>
  jobsOf(path).flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []));

describe.each(WORKFLOWS)('%s', (path) => {
  it('runs scripts and programs that exist', () => {
    const lines = commandsOf(path).join('\n');
    const named = [...lines.matchAll(/\bnpm run (?:--silent )?([\w:]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    const files = [...lines.matchAll(/(?<=^|\s|")(?:\.\/)?((?:\.ci|libs|test)\/[\w./-]+)/gm)].map(([, file]) => file!);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect([...named, ...files]).not.toEqual([]);
  });

  it('takes actions by their commit, with the version that it is', () => {
    const used = jobsOf(path).flatMap(({ steps = [] }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used.filter((each) => !/^[\w-]+\/[\w-]+@[\da-f]{40}$/.test(each))).toEqual([]);
    const lines = read(path).match(/- uses: .*/g) ?? [];
    expect(lines.filter((line) => !/@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it('ends in any case, and may by itself only read', () => {
    expect(parse<Workflow>(path).permissions).toEqual({ contents: 'read' });
    for (const job of jobsOf(path)) {
      if (job.uses === undefined) expect(job['timeout-minutes']).toEqual(expect.any(Number));
      else expect(WORKFLOWS).toContain(job.uses.slice('./'.length));
    }
  });
});

describe('The release', () => {
  const { jobs } = parse<Workflow>('.github/workflows/release.yml');

  it('publishes nothing that was not checked', () => {
    expect(jobs['check']!.permissions).toBeUndefined();
    for (const name of ['packages', 'image']) {
      expect(jobs[name]).toMatchObject({ needs: 'nightly', permissions: { 'id-token': 'write' } });
    }
    expect(jobs['nightly']).toEqual({ needs: 'check', uses: './.github/workflows/nightly.yml' });
    expect(jobs['check']!.steps!.map(({ run }) => run)).toContain('.ci/run');
    expect(commandsOf('.github/workflows/nightly.yml')).toContain('.ci/nightly');
    expect(read('.ci/nightly')).toMatch(/^all=\(.* release .*\)$[^]*^ +release\) .*run --silent release:dry'/m);
  });

  it('packs all that it publishes', () => {
    const commands = jobs['packages']!.steps!.flatMap(({ run }) => run ?? []);
    const [pack, publish] = ['pack', 'release:publish'].map((name) => commands.indexOf(`npm run --silent ${name}`));
    expect(pack).toBeGreaterThan(0);
    expect(publish).toBeGreaterThan(pack!);
    expect(scripts['pack']).toBe('node test/published/packaging/pack.mjs');
    expect(read('test/published/packaging/pack.mjs')).toContain("['clean:libs', 'build:packages']");
  });

  it('writes no file for npm that would take the place of OIDC', () => {
    const nodes = jobs['packages']!.steps!.filter(({ uses }) => uses?.startsWith('actions/setup-node@'));
    expect(nodes.map((each) => each.with)).toEqual([{ 'node-version-file': '.nvmrc' }]);
  });

  it('has a changelog of its version, which is its notes', () => {
    const { version } = JSON.parse(read('libs/core/package.json')) as { version: string };
    expect(read('CHANGELOG.md')).toMatch(new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\]`, 'm'));
    expect(read('CHANGELOG.md')).toMatch(/^## \[Unreleased\]$/m);
  });
});

describe('The site', () => {
  const { jobs } = parse<Workflow>('.github/workflows/site.yml');

  it('is published from what npm run site built', () => {
    expect(jobs['build']!.permissions).toBeUndefined();
    const upload = jobs['build']!.steps!.at(-1)!;
    expect(upload.uses).toMatch(/^actions\/upload-pages-artifact@/);
    expect(upload.with).toEqual({ path: 'site/dist/site' });
    expect(read('site/.vitepress/config.mjs')).toContain("outDir: 'dist/site',");
    expect(jobs['publish']).toMatchObject({ needs: 'build', permissions: { pages: 'write', 'id-token': 'write' } });
  });
});

it('Dependabot moves the packages of Nest together, and gives a reason for what it holds back', () => {
  const { updates } = parse<{ updates: { directory?: string; directories?: string[]; groups?: object }[] }>(
    '.github/dependabot.yml',
  );
  expect(updates[0]!.groups).toMatchObject({ nest: { patterns: ['@nestjs/*'] } });
  const folders = updates.flatMap(({ directory, directories = [directory!] }) => directories);
  expect(folders.filter((folder) => !existsSync(join(ROOT, folder)))).toEqual([]);
});
