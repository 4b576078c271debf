import { cpSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { COPIES, PAGES, ROOT } from './documents.mjs';

/** Puts the documents and their pictures where the generator reads them. */
export function copyPages() {
  rmSync(COPIES, { recursive: true, force: true });
  for (const path of [...PAGES, 'docs/images']) cpSync(resolve(ROOT, path), resolve(COPIES, path), { recursive: true });
}
