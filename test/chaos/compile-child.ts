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
 * Turns an issuing process into JavaScript, with all the files of this workspace that it imports, once for all of its
 * many starts. It runs with `PACKAGES` as `NODE_PATH`.
 * @param script its path in the repository, without `.ts`
 * @returns the script to run
 * @throws Error when the libraries have not been built
 */
export function compileChild(directory: string, script: string): string {
  const library = join(ROOT, 'libs/nestjs/dist/index.js');
  if (!existsSync(library)) throw new Error(`${library} is missing: run npm run build:libs first (npm run chaos does)`);
  const files = new Set([script]);
  for (const file of files) {
    const { code } = transformFileSync(join(ROOT, `${file}.ts`), OPTIONS);
    const target = join(directory, `${file}.js`);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
    for (const [, name] of code.matchAll(/require\("(\.[^"]+)\.js"\)/g)) files.add(join(dirname(file), name!));
  }
  return join(directory, `${script}.js`);
}
