import { relative } from 'node:path';
import type * as TypeScript from 'typescript';
import { breakingDeclaration } from './breaking-declaration.js';
import { breakingExpression } from './breaking-expression.js';
import { KeyReader } from './key-reader.js';
import type { KeyNames } from './key-names.js';
import type { Project } from './open-project.js';

/** A place in an application that does not work with keys that are texts. */
export interface BreakingCode {
  /** From the folder of the project. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** What stands there, cut off after 80 characters. */
  readonly code: string;
  readonly why: string;
}

/** Every such place, in the order of files and lines. What a key is, is told by names and types: some may be none. */
export function breakingCode(project: Project, names: KeyNames): BreakingCode[] {
  const { ts, folder, files } = project;
  const reader = new KeyReader(project, names);
  const found: BreakingCode[] = [];
  for (const file of files) {
    const visit = (node: TypeScript.Node): void => {
      const why = breakingExpression(node, reader) ?? breakingDeclaration(node, reader);
      if (why !== undefined) {
        // A declaration without its decorators.
        const start = (ts.isPropertyDeclaration(node) || ts.isParameter(node) ? node.name : node).getStart(file);
        const { line, character } = file.getLineAndCharacterOfPosition(start);
        const code = file.text.slice(start, node.end).replace(/\s+/g, ' ');
        const short = code.length > 80 ? `${code.slice(0, 79)}…` : code;
        found.push({ file: relative(folder, file.fileName), line: line + 1, column: character + 1, code: short, why });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column));
}
