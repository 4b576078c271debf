import { transformFileSync, type Options } from '@swc/core';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FILES = [
  'id-files',
  'issuing-messages',
  'issuing-process',
  'original-protocol',
  'raindrop-source',
  'seeded-random',
  'wall-offset',
  'worker-update',
];

const OPTIONS: Options = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  module: { type: 'commonjs' },
  swcrc: false,
};

const ROOT = resolve(__dirname, '../..');

/** Where the packages are found, the libraries among them: as they are built. */
export const PACKAGES = join(ROOT, 'node_modules');

/**
 * Turns the issuing process into JavaScript, once for all of its many starts. It runs with `PACKAGES` as `NODE_PATH`.
 * @returns the script
 * @throws Error when the libraries have not been built
 */
export function compileChild(directory: string): string {
  const library = join(ROOT, 'libs/nestjs/dist/index.js');
  if (!existsSync(library)) throw new Error(`${library} is missing: run npm run build:libs first (npm run chaos does)`);
  mkdirSync(directory, { recursive: true });
  for (const file of FILES) {
    const { code } = transformFileSync(join(__dirname, `${file}.ts`), OPTIONS);
    writeFileSync(join(directory, `${file}.js`), code);
  }
  return join(directory, 'issuing-process.js');
}
