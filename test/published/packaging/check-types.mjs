import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';

/**
 * Every entry resolves, with types that tell the truth, under node10, node16 (from CommonJS and from ESM) and bundlers.
 * Nothing is left out: a CommonJS package with `typesVersions` has no fault by design.
 */
export async function checkTypes(packages) {
  const problems = await Promise.all(packages.map((library) => problemsOf(library)));
  return problems.flat();
}

async function problemsOf({ manifest, tarball }) {
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  if (result.types === false) return [`${manifest.name} has no types`];

  const offered = Object.keys(manifest.exports);
  return [
    ...offered
      .filter((subpath) => !(subpath in result.entrypoints))
      .map((subpath) => `${manifest.name} ${subpath} was not looked at`),
    ...result.problems.map(({ kind, ...where }) => `${manifest.name} attw ${kind}: ${JSON.stringify(where)}`),
  ];
}
