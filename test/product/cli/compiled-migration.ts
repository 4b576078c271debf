import { join } from 'node:path';
import { transformSync } from '@swc/core';
import * as ts from 'typescript';
import type { MigrationInterface } from 'typeorm';
import { swc } from '../../support/jest/typescript.cjs';

const root = join(__dirname, '../../..');

/** The class that the text of a migration exports, as TypeORM's `migrations` takes it. */
export function compiledMigration(text: string): new () => MigrationInterface {
  const { code } = transformSync(text, { swcrc: false, ...swc });
  const exported: Record<string, new () => MigrationInterface> = {};
  // The text that was printed is what is to be run here.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
  new Function('exports', code)(exported);
  return Object.values(exported)[0]!;
}

/** What the compiler of an application with strict settings has against the texts. */
export function typeErrors(texts: readonly string[]): string[] {
  const files = new Map(texts.map((text, index) => [join(root, `adoption-migration-${index}.ts`), text]));
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    noUnusedLocals: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    types: [],
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.getSourceFile = (name, ...rest) => {
    const text = files.get(name);
    return text === undefined
      ? getSourceFile.call(host, name, ...rest)
      : ts.createSourceFile(name, text, ts.ScriptTarget.ES2022);
  };
  host.fileExists = (name) => files.has(name) || fileExists.call(host, name);
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
