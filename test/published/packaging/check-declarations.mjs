import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** TypeScript before 5.3 cannot read `import('...', { with: { 'resolution-mode': ... } })`: it comes of an inferred type. */
export function checkDeclarations(packages) {
  return packages.flatMap(({ folder, manifest, files }) =>
    files
      .filter((file) => file.endsWith('.d.ts') && readFileSync(join(folder, file), 'utf8').includes('resolution-mode'))
      .map((file) => `${manifest.name}: ${file} names a resolution-mode: write the type out`),
  );
}
