import { existsSync, readdirSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { HealthController } from '../../../apps/id-service/src/health/health.controller.js';
import { all, execForm, imageEnvironment, last } from './dockerfile.js';
import { readData, readText } from './read-deployment.js';
import { routesOf } from './routes-of.js';

const ROOT = resolve(__dirname, '../../..');
const SOURCES = ['apps/id-service/src', 'libs/core/src', 'libs/node/src', 'libs/typeorm/src', 'libs/nestjs/src'];

/** Named in no import: TypeORM takes the driver that DATABASE_URL needs, Swagger on Fastify its file server. */
const LOADED_BY_OTHERS = ['better-sqlite3', 'mysql2', 'pg', '@fastify/static'];

interface Manifest {
  readonly workspaces: readonly string[];
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const manifest = readData<Manifest>('package.json');

/** The folders of the workspaces, those of a pattern that ends in `/*` included. */
function workspaceFolders(): string[] {
  return manifest.workspaces.flatMap((pattern) => {
    const folder = pattern.replace(/\/\*$/, '');
    if (folder === pattern) return [pattern];
    const names = readdirSync(join(ROOT, folder));
    return names.map((name) => `${folder}/${name}`).filter((each) => existsSync(join(ROOT, each, 'package.json')));
  });
}

/** The packages that a folder's sources need in order to run; imports of types alone are gone by then. */
function packagesIn(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter(
      (file) =>
        /(?<!spec|\.d)\.ts$/.test(file) &&
        !/(^|\/)(testing|public-ids|redis|nats|threads|graphql|zod)(\/|\.ts$)/.test(file),
    )
    .flatMap((file) => [
      ...readText(join(folder, file)).matchAll(/^(?:import|export) (?!type )(?:[^;']*? from )?'([^.'][^']*)'/gm),
    ])
    .map(([, specifier]) => specifier!)
    .filter((specifier) => !specifier.startsWith('node:') && !specifier.startsWith('@raindrop/'))
    .map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    );
}

describe('The Dockerfile', () => {
  it('builds and runs on the same release of Node, one that the packages take', () => {
    const [build, runtime] = all('FROM');
    expect(build).toMatch(/^node:24-slim@sha256:[\da-f]{64} AS build$/);
    expect(runtime).toBe(build!.replace(' AS build', ''));
    expect(manifest.engines.node).toMatch(/^>=20\./);
  });

  it('needs no compiler: the lockfile keeps what better-sqlite3 13 says of itself', () => {
    // npm leaves it out (tools/sqlite-on-node-20/after-install.cjs), and would drop a package that it cannot build.
    const { packages } = readData<{ packages: Record<string, object> }>('package-lock.json');
    expect(packages['node_modules/better-sqlite3']).toMatchObject({ optional: true, gypfile: false });
  });

  it('installs nothing that reports its installation', () => {
    const { packages } = readData<{ packages: Record<string, { resolved?: string; hasInstallScript?: boolean }> }>(
      'package-lock.json',
    );
    expect(packages['node_modules/@scarf/scarf']).toMatchObject({ resolved: 'file:tools/no-scarf' });
    expect(readData<{ scripts?: object }>('tools/no-scarf/package.json').scripts).toBeUndefined();
    const scripted = Object.keys(packages).filter((path) => packages[path]!.hasInstallScript === true);
    expect(scripted.filter((path) => /scarf|telemetry|analytics/.test(path))).toEqual([]);
  });

  it('installs with the manifest of every workspace, for npm ci would miss one', () => {
    const copied = all('COPY').flatMap((rest) => rest.split(' ').filter((path) => path.endsWith('package.json')));
    expect([...copied].sort()).toEqual(
      ['package.json', ...workspaceFolders().map((folder) => `${folder}/package.json`)].sort(),
    );
  });

  it('is given everything it copies, and no more than it needs', () => {
    const ignore = readText('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(ignore[0]).toBe('*');
    const kept = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    for (const path of kept) expect(existsSync(join(ROOT, path))).toBe(true);
    const sources = all('COPY')
      .filter((rest) => !rest.startsWith('--from') && rest !== '. .')
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    const isKept = (path: string): boolean => kept.some((each) => path === each || path.startsWith(`${each}/`));
    expect(sources.filter((path) => !isKept(path))).toEqual([]);
    expect(ignore).toEqual(expect.arrayContaining(['**/node_modules', '**/dist', '**/data']));
  });

  it('keeps the packages that the service runs with when it prunes', () => {
    expect(all('RUN').join('\n')).toContain('npm prune --omit=dev');
    const needed = new Set([...SOURCES.flatMap(packagesIn), ...LOADED_BY_OTHERS]);
    const kept = { ...manifest.dependencies, ...manifest.optionalDependencies };
    expect([...needed].filter((name) => kept[name] === undefined).sort()).toEqual([]);
  });

  it('starts what npm run build has built, as process 1, not as root', () => {
    const { compilerOptions } = readData<{ compilerOptions: { outDir: string } }>('apps/id-service/tsconfig.app.json');
    const built = posix.join('apps/id-service', compilerOptions.outDir, 'main.js');
    expect(execForm('CMD')).toEqual(['node', built]);
    expect(last('USER')).toBe('node');
    expect(last('STOPSIGNAL')).toBe('SIGTERM');
  });

  it('has an environment that the service understands, and asks for its health where it listens', () => {
    const config = readServiceConfig(imageEnvironment());
    expect(config).toMatchObject({ host: '0.0.0.0', port: Number(last('EXPOSE')) });
    expect(config.port).toBe(readServiceConfig({}).port);
    const [program, flag, script] = execForm('HEALTHCHECK');
    expect([program, flag]).toEqual(['node', '-e']);
    const path = /process\.env\.PORT \+ '([^']+)'/.exec(script!)![1];
    expect(path).toBe('/health/ready');
    expect(routesOf(HealthController)).toContain(path);
  });

  it('owns the folder of the default database, which is all that is ever written', () => {
    const { database } = readServiceConfig(imageEnvironment());
    const folder = posix.join(last('WORKDIR'), posix.dirname((database as { database: string }).database));
    expect(last('VOLUME')).toBe(folder);
    expect(last('RUN')).toBe(`install --directory --owner=node --group=node ${posix.basename(folder)}`);
  });
});
