import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync, type Options } from '@swc/core';
import { swc } from '../../support/jest/typescript.cjs';

/** As the tests themselves are compiled, decorators with their types. */
const OPTIONS: Options = { swcrc: false, ...swc };

/** The `ts` blocks of a Markdown text, in their order. */
export function typescriptBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
}

/** What GitHub makes of a heading: lower case, without punctuation, spaces as hyphens. */
export function anchorOf(heading: string): string {
  const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return shown.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
}

/**
 * A file of the repository as text; of `docs/http.md#public-ids` that section, with those below it.
 * @throws Error when there is no such heading
 */
export function readDocument(path: string): string {
  const [file, anchor] = path.split('#') as [string, string | undefined];
  const text = readFileSync(join(__dirname, '../../..', file), 'utf8');
  if (anchor === undefined) return text;
  const headings = [
    ...text.replace(/^```[\s\S]*?^```$/gm, (block) => ' '.repeat(block.length)).matchAll(/^(#+) (.*)$/gm),
  ];
  const first = headings.findIndex(([, , heading]) => anchorOf(heading!) === anchor);
  if (first < 0) throw new Error(`${path}: no such heading`);
  const next = headings.slice(first + 1).find(([, level]) => level!.length <= headings[first]![1]!.length);
  return text.slice(headings[first]!.index, next?.index);
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
