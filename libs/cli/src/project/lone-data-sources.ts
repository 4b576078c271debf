import { relative } from 'node:path';
import type * as TypeScript from 'typescript';
import type { Project } from './open-project.js';

/**
 * A place where an application makes a DataSource without importing Raindrop, such as a seed with a module of its own.
 */
export interface LoneDataSource {
  /** The path from the folder of the project. */
  readonly file: string;
  readonly line: number;
}

/** Finds the first such place of each file that does not mention Raindrop. */
export function loneDataSources({ ts, folder, files }: Project): LoneDataSource[] {
  const find = (node: TypeScript.Node): TypeScript.Node | undefined => {
    const isOne =
      (ts.isCallExpression(node) && /\bTypeOrmModule\.forRoot(Async)?$/.test(node.expression.getText())) ||
      (ts.isNewExpression(node) && node.expression.getText() === 'DataSource');
    return isOne ? node : ts.forEachChild(node, find);
  };
  return files.flatMap((file) => {
    const found = /\bRaindropModule\b|\battach(IdService)?\(/.test(file.text) ? undefined : find(file);
    if (found === undefined) return [];
    const { line } = file.getLineAndCharacterOfPosition(found.getStart(file));
    return [{ file: relative(folder, file.fileName), line: line + 1 }];
  });
}
