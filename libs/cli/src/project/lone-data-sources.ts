import { relative } from 'node:path';
import type * as TypeScript from 'typescript';
import type { Project } from './open-project.js';

/** Where an application makes a DataSource and imports no Raindrop for it: seeds and scripts with a module of their own. */
export interface LoneDataSource {
  /** From the folder of the project. */
  readonly file: string;
  readonly line: number;
}

/** The first of each file that does not speak of Raindrop. */
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
