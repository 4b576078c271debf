import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apps, oldestTypescript } from './apps.mjs';
import { repository } from './pack-libraries.mjs';

/**
 * docs/versions.md lists every combination that is run, and every peer that npm holds to a range; our own have one version.
 * libs/node/src/system/peer-versions.spec.ts compares the optional ones.
 */
export function checkVersions(packages) {
  const lines = readFileSync(join(repository, 'docs', 'versions.md'), 'utf8').split('\n');
  const ours = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]));
  const peers = packages.flatMap(({ manifest }) =>
    Object.entries(manifest.peerDependencies ?? {}).map(([name, range]) => ({ from: manifest.name, name, range })),
  );
  const rows = [
    ...apps.map(
      (app) => `| ${app.nest} | ${app.module} | ${app.typeorm} | ${app.terminus} | ${app.jest ? 'ts-jest' : '-'} |`,
    ),
    ...peers
      .filter(({ name, range }) => !ours.has(name) && range !== '*')
      .map(({ name, range }) => `| \`${name}\` | \`${range.replaceAll('|', '\\|')}\` |`),
  ];
  const compiler = `TypeScript ${oldestTypescript.typescript} and later`;
  return [
    ...(lines.some((line) => line.includes(compiler)) ? [] : [`docs/versions.md lacks ${compiler}`]),
    ...rows.filter((row) => !lines.some((line) => line.startsWith(row))).map((row) => `docs/versions.md lacks ${row}`),
    ...peers
      .filter(({ name, range }) => ours.has(name) && ours.get(name) !== range)
      .map(({ from, name, range }) => `${from} takes ${name} ${range}, which is at ${ours.get(name)}`),
  ];
}
