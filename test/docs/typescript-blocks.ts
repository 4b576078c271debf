import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { transformSync, type Options } from '@swc/core';

/** As the tests themselves are compiled, decorators with their types. */
const { transform } = createRequire(__filename)('../../jest.base.cjs') as {
  transform: Record<string, [string, Options]>;
};
const OPTIONS: Options = { swcrc: false, ...Object.values(transform)[0]![1] };

/** The `ts` blocks of a Markdown text, in their order. */
export function typescriptBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
}

/** A file of the repository as text. */
export function readDocument(path: string): string {
  return readFileSync(join(__dirname, '../..', path), 'utf8');
}

/**
 * Runs a block with these names in scope, as this workspace's TypeScript; import lines are left out.
 * @returns what it exports
 */
export function runBlock(block: string, scope: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const source = block.replace(/^import .*\n/gm, '');
  // Without an export swc would take it for a script.
  const { code } = transformSync(`${source}\nexport {};`, OPTIONS);
  const exported: Record<string, unknown> = {};
  // Documentation is what is to be run here.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
  new Function('exports', ...Object.keys(scope), code)(exported, ...Object.values(scope));
  return exported;
}
