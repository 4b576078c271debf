import { spawnSync } from 'node:child_process';
import { repository } from './pack-libraries.mjs';

const CORE = '@raindrop/core';

/** The engine stands alone: installing it installs nothing else. */
export function checkDependencies(packages) {
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
