/**
 * `npm run scope -- @other`: publishes the packages under another scope. package.json has it (`raindrop.scope`); this
 * writes it to every file that names a package.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryFiles, root, scope } from './repository-files.mjs';

const [wanted] = process.argv.slice(2);
if (!/^@[a-z\d][a-z\d-]*$/.test(wanted ?? '')) {
  console.error('usage: npm run scope -- @name');
  process.exit(2);
}
let count = 0;
for (const path of repositoryFiles()) {
  const text = readFileSync(join(root, path), 'utf8');
  const renamed = text.replaceAll(new RegExp(`${scope}(?![\\w-])`, 'g'), wanted);
  if (renamed === text) continue;
  writeFileSync(join(root, path), renamed);
  count++;
}
console.log(`${count} files name ${wanted} now. Next: npm install, npm run format, npm run docs`);
