import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Child } from '../../support/processes/child.js';
import { readDocument, typescriptBlocks } from '../../published/docs/typescript-blocks.js';

const ROOT = resolve(__dirname, '../../..');
const CLI = join(__dirname, 'nest-cli');
const NEST = join(CLI, 'node_modules/@nestjs/cli/bin/nest.js');

/** The module that docs/worker-ids.md shows. */
const [SHOWN] = typescriptBlocks(readDocument('docs/worker-ids.md#restarts-in-development'));

/** One worker id only: a restart needs the one of the process before. */
const ONLY_ONE = `dbConfig: 'sqlite:watch.sqlite', serviceMinWorkId: 1, serviceMaxWorkId: 1, `;

const moduleOf = (block: string): string => block.replace('forRoot({ ', `forRoot({ ${ONLY_ONE}`);

/** The same module with the default lease. */
const DEFAULT_LEASE = SHOWN!.replace(/const development = \{[^}]*\}/, 'const development = {}');

const mainOf = (start: number, hooks: string): string => `import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { IdService } from '@raindrop/nestjs';
import { AppModule } from './app.module.js';

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
${hooks}
console.log('start ${start} issued ' + app.get(IdService).nextString());
// A server would keep the process alive.
setInterval(() => undefined, 60_000);
`;

const CONFIG = {
  compilerOptions: {
    target: 'ES2022',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    rootDir: 'src',
    outDir: 'dist',
  },
  include: ['src'],
};

/**
 * Starts an application by `nest start --watch`, changes it, and answers with what both starts have printed.
 * @param block the module
 * @param hooks the line that enables them, or nothing: then SIGTERM ends the process as a hard kill does
 */
async function restarted(block: string, hooks: string): Promise<{ first: string; second: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-watch-'));
  mkdirSync(join(folder, 'src'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "name": "watched", "type": "module" }');
  writeFileSync(join(folder, 'nest-cli.json'), '{}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
  writeFileSync(join(folder, 'src/app.module.ts'), moduleOf(block));
  writeFileSync(join(folder, 'src/main.ts'), mainOf(1, hooks));
  const watch = new Child([process.execPath, NEST, 'start', '--watch'], { cwd: folder, hasGroup: true });
  try {
    const [, first] = await watch.says(/start 1 issued (\d+)/);
    writeFileSync(join(folder, 'src/main.ts'), mainOf(2, hooks));
    const [, id, refusal] = await watch.says(/start 2 issued (\d+)|(NoFreeWorkerError)/);
    return { first: first!, second: id ?? refusal! };
  } finally {
    await watch.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

// Only these tests need the CLI, and much comes with it.
beforeAll(() => void execFileSync(process.execPath, [join(ROOT, 'tools/install-once.mjs'), CLI], { cwd: ROOT }));

describe('A restart by nest start --watch, with one worker id', () => {
  it('gets the worker id at once where shutdown hooks are enabled', async () => {
    const { first, second } = await restarted(DEFAULT_LEASE, 'app.enableShutdownHooks();');
    expect(BigInt(second)).toBeGreaterThan(BigInt(first));
  });

  it('finds it held where they are not: the control', async () => {
    const { second } = await restarted(DEFAULT_LEASE, '');
    expect(second).toBe('NoFreeWorkerError');
  });

  it('waits for the short lease of docs/worker-ids.md, and repeats no ID', async () => {
    const { first, second } = await restarted(SHOWN!, '');
    expect(second).toMatch(/^\d+$/);
    expect(second).not.toBe(first);
  });
});
