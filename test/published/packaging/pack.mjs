/**
 * `npm run pack`: packs the libraries into dist/packages, as `npm publish` would. Needs `npm run build:packages` first.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packLibraries, repository } from './pack-libraries.mjs';

const folder = join(repository, 'dist', 'packages');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { tarball } of packLibraries(folder)) console.log(relative(repository, tarball));
