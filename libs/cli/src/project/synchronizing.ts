import { relative } from 'node:path';
import type * as TypeScript from 'typescript';
import type { Project } from './open-project.js';

/** Where an application tells TypeORM to make the tables as its entities are. */
export interface Synchronizing {
  /** From the folder of the project. */
  readonly file: string;
  readonly line: number;
}

/** Every `synchronize: true`. What is computed (`synchronize: isTest`) is not told. */
export function synchronizing({ ts, folder, files }: Project): Synchronizing[] {
  return files.flatMap((file) => {
    const found: Synchronizing[] = [];
    const visit = (node: TypeScript.Node): void => {
      const isOne =
        ts.isPropertyAssignment(node) &&
        node.name.getText(file).replace(/['"]/g, '') === 'synchronize' &&
        node.initializer.kind === ts.SyntaxKind.TrueKeyword;
      if (isOne) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
        found.push({ file: relative(folder, file.fileName), line: line + 1 });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return found;
  });
}
