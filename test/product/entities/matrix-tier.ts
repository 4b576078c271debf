import type { DatabaseKind } from '../../support/servers/test-databases.js';
import { isFull } from '../../tier.js';
import { publishedCell, publishedOutcome } from './published-table.js';

/** Measures anew what README.md of this folder says, instead of proving it: then every cell runs. */
export const UPDATE_DOCS = process.env.UPDATE_DOCS === '1';

/** Whether the SELECTs of an ordinary key are counted here; `npm test` takes the number that README.md has. */
export const COUNTS_SELECTS = UPDATE_DOCS || isFull;

/** A cell of the matrix: one way of writing or reading, with one form of the property, on one database. */
interface Cell {
  readonly kind: DatabaseKind;
  readonly path: string;
  readonly form: string;
  /** Where the path stands in its list. */
  readonly pathPlace: number;
  /** Where the form stands in its list. */
  readonly formPlace: number;
}

const FORMS = 4;
const servers = ['mariadb', 'postgres'] as const;

/**
 * Whether a cell runs in this tier. `npm test` runs every path twice: on SQLite, and with another form on MariaDB or
 * PostgreSQL, forms and servers in turn; and every cell in which the databases are known to differ. `npm run test:all`
 * runs what is left.
 */
export function runsHere(cell: Cell): boolean {
  return UPDATE_DOCS || isTelling(cell) !== isFull;
}

function isTelling({ kind, path, form, pathPlace, formPlace }: Cell): boolean {
  if (publishedCell(path, form).includes(';')) return true;
  const turn = (pathPlace + formPlace) % FORMS;
  if (kind === 'sqlite') return turn === 0;
  // Where MySQL is there as well, its turn is every path's.
  return turn === 1 && (kind === 'mysql' || kind === serverOf(pathPlace));
}

/** Paths in turn; every four of them the other way round, or each server would see two of the four forms. */
function serverOf(pathPlace: number): DatabaseKind {
  return servers[(pathPlace + Math.floor(pathPlace / FORMS)) % servers.length]!;
}

/** How many SELECTs a path may cost, as README.md has it; undefined where it says nothing of them. */
export function publishedSelects(path: string, column: string, databaseName: string): number | undefined {
  const count = Number(publishedOutcome(path, column, databaseName));
  return Number.isNaN(count) ? undefined : count;
}
