import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type * as TypeScript from 'typescript';
import { projectTypescript } from '@raindrop/node/nest-project';
import { InputError } from '../input-error.js';

/** An application's sources, read with TypeScript. */
export interface Project {
  readonly ts: typeof TypeScript;
  /** The folder of its configuration; paths are relative to it. */
  readonly folder: string;
  readonly checker: TypeScript.TypeChecker;
  /** Its own source files, without declaration files and packages. */
  readonly files: readonly TypeScript.SourceFile[];
}

/**
 * Reads an application.
 * @param path a folder with a `tsconfig.json`, or such a file of any name
 * @throws InputError when the file is missing or names no files, or no TypeScript can be used
 */
export function openProject(path: string): Project {
  const config = configOf(path);
  const folder = dirname(config);
  const ts = projectTypescript(folder);
  const broken = (diagnostics: readonly TypeScript.Diagnostic[], cure = ''): InputError =>
    new InputError(
      `--project ${path}: ${diagnostics.map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' ')).join('; ')}${cure}`,
    );
  const host: TypeScript.ParseConfigFileHost = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw broken([diagnostic]);
    },
  };
  const parsed = ts.getParsedCommandLineOfConfigFile(config, { noEmit: true }, host)!;
  // A wrong option of the compiler does not prevent reading the sources; a configuration without files does.
  if (parsed.fileNames.length === 0) {
    throw broken(parsed.errors, ' It names no files: use the tsconfig.json of the application');
  }
  const program = ts.createProgram(parsed.fileNames, parsed.options);
  const isOwn = (file: TypeScript.SourceFile): boolean =>
    !file.isDeclarationFile && !program.isSourceFileFromExternalLibrary(file);
  return { ts, folder, checker: program.getTypeChecker(), files: program.getSourceFiles().filter(isOwn) };
}

function configOf(path: string): string {
  const full = resolve(path);
  const file = existsSync(full) && statSync(full).isDirectory() ? join(full, 'tsconfig.json') : full;
  if (!existsSync(file)) throw new InputError(`--project ${path}: there is no ${file}`);
  return file;
}
