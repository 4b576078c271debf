/** Prints what CHANGELOG.md says of the version that the libraries have: the notes of its release. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(join(root, 'libs/core/package.json'), 'utf8'));
const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^(?=## \[)/m);
const section = sections.find((text) => text.startsWith(`## [${version}]`));
if (section === undefined) throw new Error(`CHANGELOG.md says nothing of ${version}`);
console.log(section.replace(/^.*\n+/, '').trim());
