import { transformFileSync, type Options } from '@swc/core';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const OPTIONS: Options = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  module: { type: 'commonjs' },
  swcrc: false,
};

const ROOT = resolve(__dirname, '../..');

/** Where the packages are found, the libraries among them: as they are built. */
export const PACKAGES = join(ROOT, 'node_modules');

/**
 * Turns an issuing process into JavaScript, once for all of its many starts. It runs with `PACKAGES` as `NODE_PATH`.
 * @param files its modules, from this folder; the first one is the script
 * @returns the script
 * @throws Error when the libraries have not been built
 */
export function compileChild(directory: string, files: readonly string[]): string {
  const library = join(ROOT, 'libs/nestjs/dist/index.js');
  if (!existsSync(library)) throw new Error(`${library} is missing: run npm run build:libs first (npm run chaos does)`);
  mkdirSync(directory, { recursive: true });
  for (const file of files) {
    const { code } = transformFileSync(join(__dirname, `${file}.ts`), OPTIONS);
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, `${file}.js`), code);
  }
  return join(directory, `${files[0]}.js`);
}
