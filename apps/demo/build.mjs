/**
 * `node apps/demo/build.mjs`: compiles the shop as `nest build` does where nest-cli.json lists Swagger's plugin, which
 * documents the DTOs by their types and comments. Needs `npm run build:libs` first.
 */
import { join } from 'node:path';
import { before } from '@nestjs/swagger/plugin';
import ts from 'typescript';

const fail = (diagnostics) => {
  console.error(ts.formatDiagnosticsWithColorAndContext(diagnostics, ts.createCompilerHost({})));
  process.exit(1);
};

const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (diagnostic) => fail([diagnostic]) };
const config = ts.getParsedCommandLineOfConfigFile(join(import.meta.dirname, 'tsconfig.app.json'), {}, host);
const program = ts.createProgram(config.fileNames, config.options);
const found = ts.getPreEmitDiagnostics(program);
if (found.length > 0) fail(found);
program.emit(undefined, undefined, undefined, false, { before: [before({ introspectComments: true }, program)] });
