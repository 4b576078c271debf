import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const PACKED = resolve(__dirname, '../../../dist/packages');

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}

/**
 * Makes sure that an application has our packages from the tarballs that were packed, and not from anywhere else.
 * @throws Error with the name of one that it has not
 */
export function hasPacked(folder: string, names: readonly string[]): void {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lockfile;
  const packed = readdirSync(PACKED)
    .filter((file) => file.endsWith('.tgz'))
    .map(
      (file) =>
        `sha512-${createHash('sha512')
          .update(readFileSync(join(PACKED, file)))
          .digest('base64')}`,
    );
  for (const name of names) {
    const { integrity } = packages[`node_modules/${name}`] ?? {};
    if (!packed.includes(integrity!)) throw new Error(`${name} in ${folder} is none that was packed`);
  }
}
