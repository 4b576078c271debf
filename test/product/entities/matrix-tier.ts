import { databaseKinds, type DatabaseKind } from '../../support/servers/test-databases.js';
import { isFull } from '../../tier.js';
import { publishedCell } from './published-table.js';

/** Measures anew what README.md of this folder says, instead of proving it: then every cell runs. */
export const UPDATE_DOCS = process.env.UPDATE_DOCS === '1';

/** `npm test` has done all of SQLite. */
export const kindsHere = databaseKinds.filter((kind) => UPDATE_DOCS || !isFull || kind !== 'sqlite');

/** A cell of the matrix: one way of writing or reading, with one form of the property, on one database. */
interface Cell {
  readonly kind: DatabaseKind;
  readonly path: string;
  readonly form: string;
  /** Where path and form stand in their lists. */
  readonly place: number;
}

const FORMS_IN_TURN = 4;
const servers: readonly DatabaseKind[] = ['mariadb', 'postgres', 'mysql'];

/**
 * Whether a cell runs in this tier. `npm test` runs all of SQLite, and on each server every path with one form, which
 * changes from path to path and from server to server, and every cell in which the databases are known to differ.
 * `npm run test:all` runs what is left.
 */
export function runsHere(cell: Cell): boolean {
  return UPDATE_DOCS || isTelling(cell) !== isFull;
}

function isTelling({ kind, path, form, place }: Cell): boolean {
  if (kind === 'sqlite') return true;
  return publishedCell(path, form).includes(';') || (place + servers.indexOf(kind)) % FORMS_IN_TURN === 0;
}
