import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../..');

/** Under what the packages are published. This is the constant; `npm run scope` changes it. */
export const { scope } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).raindrop;

/** Installed, built, or the version control's own. */
const NOT_OURS = /^(node_modules|dist|coverage|data|\.git)$/;
const TEXT = /(^|\.)(c?js|css|dockerignore|html|json|md|mjs|mts|nvmrc|sh|sql|svg|ts|txt|ya?ml|Dockerfile|run)$/;

/** Every text file of the repository, by its path there. */
export function repositoryFiles(folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return NOT_OURS.test(entry.name) ? [] : repositoryFiles(path);
    return entry.isFile() && TEXT.test(entry.name) ? [path] : [];
  });
}
