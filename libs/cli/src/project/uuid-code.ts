import { relative } from 'node:path';
import type * as TypeScript from 'typescript';
import type { BreakingCode } from './breaking-code.js';
import type { Project } from './open-project.js';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const SAYINGS: Readonly<Record<string, string>> = {
  ParseUUIDPipe: 'refuses every key that is a number: take ParseIdPipe',
  IsUUID: 'refuses every key that is a number: take @IsSnowflake()',
};

/** Where an application wants a UUID: pipes, validators, and UUIDs that are written down, in the order of files. */
export function uuidCode({ ts, folder, files }: Project): BreakingCode[] {
  return files.flatMap((file) => {
    const found: BreakingCode[] = [];
    const visit = (node: TypeScript.Node): void => {
      const isImported = ts.isImportSpecifier(node.parent ?? node);
      const why = ts.isStringLiteralLike(node)
        ? UUID.test(node.text)
          ? 'is a UUID: a query for it fails, or finds no row, when keys are numbers'
          : undefined
        : ts.isIdentifier(node) && !isImported
          ? SAYINGS[node.text]
          : undefined;
      if (why !== undefined) {
        const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
        const place = { file: relative(folder, file.fileName), line: line + 1, column: character + 1 };
        found.push({ ...place, code: node.getText(file), why });
      }
      ts.forEachChild(node, visit);
    };
    ts.forEachChild(file, visit);
    return found;
  });
}
