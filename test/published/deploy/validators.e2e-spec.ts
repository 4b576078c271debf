import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { run, type Ended } from '../../support/processes/run.js';
import { blocksOf } from '../docs/documents.js';
import { readData } from './read-deployment.js';

const ROOT = resolve(__dirname, '../../..');
/** The validators have a lockfile of their own, because no other test needs them. */
const VALIDATORS = join(ROOT, 'test/published/deploy/validators');
const MANIFESTS = readdirSync(join(ROOT, 'deploy/kubernetes'))
  .filter((name) => name !== 'kustomization.yaml')
  .map((name) => `deploy/kubernetes/${name}`);
const COMPOSE_FILES = ['docker-compose.yml', 'deploy/compose/compose.yaml'];
/** Rules of dclint against a name for an image that is built here, by which `docker compose` finds it again. */
const NOT_FOR_OWN_IMAGES = ['no-build-and-image', 'service-image-require-explicit-tag'];

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

interface Model {
  /** @throws Error that names what is wrong by the schema of Kubernetes' API */
  validate(): void;
}

/** The module of kubernetes-models for the kind of a manifest: `kubernetes-models/apps/v1/Deployment`. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}

/** Holds a manifest against the schema of its kind. A field that the kind does not have is no fault there. */
function validate(manifest: Manifest): void {
  const models = createRequire(join(VALIDATORS, 'package.json'))(moduleOf(manifest)) as Record<
    string,
    new (data: object) => Model
  >;
  new models[manifest.kind]!(manifest).validate();
}

/** Compiles manifests as literals of the types of their kinds: a field that the kind does not have is an error. */
async function compile(manifests: readonly Manifest[]): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-manifests-'));
  try {
    symlinkSync(join(VALIDATORS, 'node_modules'), join(folder, 'node_modules'));
    const lines = manifests.flatMap((manifest, index) => [
      `import type { I${manifest.kind} as Kind${index} } from '${moduleOf(manifest)}';`,
      `export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)};`,
    ]);
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    return await run([process.execPath, tsc, ...flags, 'manifests.ts'], { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs dclint, whose schema is that of the Compose specification, and reports its errors only. */
function lint(...files: readonly string[]): Promise<Ended> {
  const rules = NOT_FOR_OWN_IMAGES.flatMap((rule) => ['--disable-rule', rule]);
  const command = join(VALIDATORS, 'node_modules/dclint/bin/dclint.cjs');
  return run([process.execPath, command, ...files, '--quiet', ...rules], { cwd: ROOT });
}

beforeAll(() => void execFileSync(process.execPath, [join(ROOT, 'tools/install-once.mjs'), VALIDATORS], { cwd: ROOT }));

describe('By the published schemas', () => {
  it.each(MANIFESTS)('%s is a manifest of its kind', (path) => {
    expect(() => validate(readData<Manifest>(path))).not.toThrow();
  });

  it('no manifest has a field that its kind does not have', async () => {
    const { code, stdout } = await compile(MANIFESTS.map((path) => readData<Manifest>(path)));
    expect([code, stdout]).toEqual([0, '']);
  });

  it.each(['docs/health.md', 'docs/operations.md'])('%s shows fields that a pod has', async (document) => {
    const blocks = blocksOf(document).filter(({ language }) => language === 'yaml');
    const { text } = blocks.find((each) => each.text.includes('readinessProbe'))!;
    const shown = parse(text) as { spec?: object };
    // The spec of a pod, or some of the fields of its container.
    const spec = shown.spec ?? { containers: [{ name: 'shop', ...shown }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', spec };
    validate(pod);
    const { code, stdout } = await compile([pod]);
    expect([code, stdout]).toEqual([0, '']);
  });

  it('the Compose files are what Compose reads', async () => {
    const { code, stdout } = await lint(...COMPOSE_FILES);
    expect([code, stdout.trim()]).toEqual([0, '']);
  });
});

describe('A fault would be found', () => {
  const policy = readData<Manifest & { spec: object }>('deploy/kubernetes/network-policy.yaml');
  const withSpec = (change: object): Manifest => ({ ...policy, spec: { ...policy.spec, ...change } }) as Manifest;

  it('of a type', () => {
    expect(() => validate(withSpec({ policyTypes: 'Ingress' }))).toThrow('policyTypes must be array');
  });

  it('of a name, at any depth', async () => {
    const ingress = [{ from: [{ namespaceSelecter: {} }] }];
    const { code, stdout } = await compile([withSpec({ ingress })]);
    expect(code).not.toBe(0);
    expect(stdout).toContain(`'"namespaceSelecter"' does not exist`);
  });

  it('of a Compose file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'raindrop-compose-'));
    try {
      const file = join(folder, 'compose.yaml');
      writeFileSync(file, 'services:\n  app:\n    image: shop:1\n    depend_on: [mysql]\n');
      const { code, stdout } = await lint(file);
      expect(code).not.toBe(0);
      expect(stdout).toContain('invalid-schema');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
