import { resolve } from 'node:path';
import { noteCopy, otherCopies, tellCopies } from '../system/copies.js';

const NAME = '@raindrop/node';
const own = noteCopy(NAME, () => resolve(__dirname, '../..'), {});

let isSaid = false;

/** The warning for a process that has loaded another version of this package, if it has: once. */
export function otherVersionWarning(): string[] {
  const others = otherCopies(NAME, own).filter(({ version }) => version !== own?.version);
  if (own === undefined || others.length === 0 || isSaid) return [];
  isSaid = true;
  const copies = tellCopies(NAME, [own, ...others]);
  return [`two versions are loaded, and what one has made the other may not understand: ${copies}`];
}
