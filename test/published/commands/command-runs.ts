import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');

/** What runs a command of the repository, so that it cannot break unnoticed. */
export type CommandRun =
  /** A script of CI or a test; its text names `as`, by default `npm run NAME`. */
  | { readonly by: string; readonly as?: string }
  /** Another script of the same package.json calls it. */
  | { readonly within: string }
  /** small-runs.e2e-spec.ts runs it in the repository, or in a copy if it changes files. */
  | { readonly small: string; readonly prints: RegExp; readonly copied?: readonly string[] };

/** A command that stands in a package.json, or a program in `.ci`. */
export interface RepositoryCommand {
  /** As in {@link RUNS}: `npm run bench`, `examples/prisma: npm run build`, `.ci/run`. */
  readonly name: string;
  /** What a package.json has for it. */
  readonly script?: string;
}

const example = (name: string): Readonly<Record<string, CommandRun>> => ({
  [`examples/${name}: npm run build`]: { by: 'test/product/examples/built-example.ts', as: "'build'" },
  [`examples/${name}: npm run start`]: { by: `test/product/examples/${name}.e2e-spec.ts`, as: 'example.start(' },
});

/** The run of every command of the repository. */
export const RUNS: Readonly<Record<string, CommandRun>> = {
  '.ci/run': { by: '.github/workflows/ci.yml', as: '.ci/run' },
  '.ci/nightly': { by: '.github/workflows/nightly.yml', as: '.ci/nightly' },
  '.ci/steps': { by: '.ci/run', as: 'source .ci/steps' },
  '.ci/clean-room': { by: '.ci/nightly', as: '.ci/clean-room' },
  '.ci/node-leg': { by: '.ci/nightly', as: '.ci/node-leg' },
  '.ci/fetch-node': { by: '.ci/node-leg', as: '.ci/fetch-node' },
  '.ci/node-sqlite': { by: '.ci/run', as: '.ci/node-sqlite' },
  '.ci/check': { within: 'check' },

  'npm run dependencies': { by: '.ci/steps' },
  'npm run clean': {
    small: '',
    prints: /^$/,
    copied: ['package.json', 'tsconfig.build.json', 'tsconfig.base.json', 'libs', 'test/orms'],
  },
  'npm run clean:libs': { within: 'clean' },
  'npm run build': { within: 'start' },
  'npm run build:libs': { within: 'demo' },
  'npm run install:types': { within: 'build:packages' },
  'npm run build:packages': { by: '.ci/run' },
  'npm run build:orm': { within: 'test:all' },
  'npm run start': { by: 'test/published/docs/readme-start.mjs', as: 'npm start' },
  'npm run demo': { by: 'test/product/examples/shop.e2e-spec.ts' },
  'npm run test': { by: '.ci/run', as: 'npm test' },
  'npm run test:all': { by: '.ci/nightly' },
  // Its parts are those of test:all.
  'npm run test:orms': { within: 'test:all' },
  'npm run test:sqlite': { by: '.ci/node-sqlite' },
  'npm run test:unit': { small: '-- libs/core/src/show-value', prints: /Tests: +\d+ passed/ },
  'npm run simulate': { small: '-- --schedules 3 --json', prints: /^\{"schedules":3,.*"repeated":0\b/m },
  'npm run schedules': { small: '-- --only failover-loses-a-layout --most 1 --json', prints: /"depth":3,/ },
  'npm run chaos': { by: '.ci/nightly' },
  'npm run figures': { by: 'test/proof/figures/figures.e2e-spec.ts', as: 'figures.ts' },
  'npm run mutants': { small: '-- --only missing-id-written', prints: /\| yes \|$/m },
  'npm run prove': { by: '.ci/nightly' },
  'npm run check': { small: '', prints: /^$/ },
  'npm run typecheck': { by: '.ci/run' },
  'npm run lint': { by: '.ci/run', as: 'npx eslint .' },
  'npm run format': {
    small: '',
    prints: /^tools\/unformatted\.cjs \d+ms$/m,
    copied: [
      ...['package.json', 'tsconfig.json', 'tsconfig.base.json'],
      ...['eslint.config.mjs', 'eslint.packages.mjs', '.prettierrc.json', '.prettierignore'],
    ],
  },
  'npm run docs': { by: '.ci/nightly' },
  'npm run site': { by: '.ci/nightly' },
  'site: npm run build': { by: 'package.json', as: 'npm run --silent build --prefix site' },
  'npm run packaging': { by: '.ci/nightly' },
  'npm run runtimes': { by: '.ci/nightly' },
  'npm run pack': { by: 'test/published/release/tarball-app.ts' },
  'npm run adopt:real': { by: '.github/workflows/nightly.yml' },
  'npm run release:dry': { by: '.ci/nightly' },
  'npm run release:version': { by: 'test/published/release/version-step.ts', as: 'version.mjs' },
  'npm run release:publish': { by: 'test/published/release/dry-run.ts', as: 'publish.mjs' },
  'npm run sbom': { small: '', prints: /"bomFormat": "CycloneDX"/ },
  'npm run scope': {
    small: '-- @another',
    prints: /^\d+ files name @another now/m,
    copied: ['package.json', 'README.md', 'test/published/release'],
  },
  'npm run bench': { within: 'bench:check' },
  'npm run bench:check': { by: '.ci/nightly' },
  'npm run bench:db': { by: 'test/published/bench/bench-db.e2e-spec.ts', as: 'compare.mjs' },
  'npm run soak': { by: '.ci/nightly' },

  ...['better-auth', 'drizzle', 'mikro-orm', 'multi-tenant', 'own-store', 'prisma', 'two-data-centres']
    .map(example)
    .reduce((all, each) => ({ ...all, ...each })),
  'examples/own-store: npm run test': { by: 'test/product/examples/own-store.e2e-spec.ts', as: "'npm', ['test']" },
};

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Every script of every package.json that has some, and every program in `.ci`. */
export function repositoryCommands(): RepositoryCommand[] {
  const folders = ['', 'site', 'bench', ...subfolders('examples'), ...subfolders('libs'), ...subfolders('test/orms')];
  const scripts = folders.flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
    const prefix = folder === '' ? '' : `${folder}: `;
    return Object.entries(manifest.scripts ?? {}).map(([name, script]) => ({
      name: `${prefix}npm run ${name}`,
      script,
    }));
  });
  return [...scripts, ...readdirSync(join(ROOT, '.ci')).map((name) => ({ name: `.ci/${name}` }))];
}

function subfolders(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(ROOT, folder, entry.name)).includes('package.json'))
    .map(({ name }) => `${folder}/${name}`);
}
