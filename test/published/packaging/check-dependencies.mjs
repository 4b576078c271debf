import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { repository } from './pack-libraries.mjs';

const CORE = '@raindrop/core';

/** The engine stands alone: installing it installs nothing else. And no library imports what it does not declare. */
export function checkDependencies(packages) {
  return [...problemsOfCore(packages), ...packages.flatMap((library) => undeclaredImports(library))];
}

function problemsOfCore(packages) {
  const { manifest } = packages.find((library) => library.manifest.name === CORE);
  const fields = ['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies'];
  const declared = fields.filter((field) => Object.keys(manifest[field] ?? {}).length > 0);

  const args = ['ls', '--omit=dev', '--omit=peer', '--all', '--json', '--workspace', CORE];
  const { stdout } = spawnSync('npm', args, { cwd: repository, encoding: 'utf8' });
  const core = JSON.parse(stdout).dependencies?.[CORE];
  const installed = Object.keys(core?.dependencies ?? {});

  return [
    ...(core === undefined ? [`npm ls does not know ${CORE}`] : []),
    ...declared.map((field) => `${CORE} declares ${field}: ${Object.keys(manifest[field]).join(', ')}`),
    ...installed.map((name) => `${CORE} brings ${name} at run time`),
  ];
}

/** An app would find such a package only by luck: because another one brought it. */
function undeclaredImports({ folder, manifest, files }) {
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
  return files
    .filter((file) => /\.(js|d\.ts)$/.test(file))
    .flatMap((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, file), 'utf8'), true, true);
      return importedFiles
        .map(({ fileName }) => fileName)
        .filter((name) => !name.startsWith('.') && !isBuiltin(name) && !(packageOf(name) in declared))
        .map((name) => `${manifest.name} imports ${name} in ${file}, which its package.json does not declare`);
    });
}

function packageOf(specifier) {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
