import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/** A fenced block of a document. */
export interface Block {
  /** Path in the repository. */
  readonly document: string;
  /** Of the opening fence, from 1 on. */
  readonly line: number;
  /** What stands behind the opening fence; empty for nothing. */
  readonly language: string;
  /** Without the fences, and without their indentation; ends with a line feed. */
  readonly text: string;
}

/** Folders whose content is installed, built or generated (`docs/api`, from doc comments). */
const NOT_OURS = /^(\..*|node_modules|dist|data|docs\/api)$/;

/** Every Markdown file under a folder, by its path in the repository. */
function markdownUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return NOT_OURS.test(entry.name) || NOT_OURS.test(path) ? [] : markdownUnder(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Every document of the repository. */
export const DOCUMENTS: readonly string[] = markdownUnder('').sort();

/** The fenced blocks of a document, in their order. */
export function blocksOf(document: string): Block[] {
  const markdown = readFileSync(join(ROOT, document), 'utf8');
  return [...markdown.matchAll(/^( *)```([^`\n]*)\n([\s\S]*?)^ *```$/gm)].map((match) => ({
    document,
    line: markdown.slice(0, match.index).split('\n').length,
    language: match[2]!.trim(),
    text: match[3]!.replaceAll(new RegExp(`^${match[1]!}`, 'gm'), ''),
  }));
}

/** The blocks of all documents in one of these languages. */
export function allBlocks(...languages: readonly string[]): Block[] {
  return DOCUMENTS.flatMap(blocksOf).filter(({ language }) => languages.includes(language));
}

/** `docs/choosing.md:12`, where to look. */
export function placeOf({ document, line }: Block): string {
  return `${document}:${line}`;
}
