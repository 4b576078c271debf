import { transformFileSync, type Options } from '@swc/core';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const OPTIONS: Options = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  module: { type: 'commonjs' },
  swcrc: false,
};

/** The tree of this workspace. */
export const ROOT = resolve(__dirname, '../../..');

/**
 * Turns an issuing process into JavaScript, with all the files of this workspace that it imports, once for all of its
 * many starts. It runs with the tree's `node_modules` as `NODE_PATH`, where the libraries are as they are built.
 * @param script its path in the repository, without `.ts`
 * @param root the tree of a workspace
 * @returns the script to run
 * @throws Error when the libraries have not been built
 */
export function compileChild(directory: string, script: string, root = ROOT): string {
  const library = join(root, 'libs/nestjs/dist/index.js');
  if (!existsSync(library)) throw new Error(`${library} is missing: run npm run build:libs first (npm run chaos does)`);
  const files = new Set([script]);
  for (const file of files) {
    const { code } = transformFileSync(join(root, `${file}.ts`), OPTIONS);
    const target = join(directory, `${file}.js`);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
    for (const [, name] of code.matchAll(/require\("(\.[^"]+)\.js"\)/g)) files.add(join(dirname(file), name!));
  }
  return join(directory, `${script}.js`);
}
