import {
  databaseKinds,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
} from '../../support/servers/test-databases.js';
import type { EntityFamily } from './entity-family.js';
import type { EntityPath } from './entity-path.js';
import { findPaths } from './find-paths.js';
import { graphPaths } from './graph-paths.js';
import { bulkPaths, insertPaths } from './insert-paths.js';
import { COUNTS_SELECTS, publishedSelects, runsHere, UPDATE_DOCS } from './matrix-tier.js';
import { OpenedFamily } from './opened-family.js';
import { ordinaryKey } from './ordinary-key.js';
import { NAMES, NOT_MEASURED, PathTable } from './path-table.js';
import { propertyForms, type PropertyForm } from './property-form.js';
import { publishedCell, publishedOutcome, publishedTable, publishTable } from './published-table.js';
import { refusedPaths } from './refused-paths.js';
import { relationPaths } from './relation-paths.js';
import { savePaths } from './save-paths.js';
import { ticketPaths } from './ticket-paths.js';
import { treePaths } from './tree-paths.js';

const SELECTS = 'SELECTs';

const working: Readonly<Record<string, readonly EntityPath[]>> = {
  'Whole objects': savePaths,
  Statements: insertPaths,
  Finding: findPaths,
  Bulks: bulkPaths,
  Graphs: [...graphPaths, ...ticketPaths],
  Relations: relationPaths,
  Trees: [...treePaths('closure-table'), ...treePaths('materialized-path'), ...treePaths('nested-set')],
};

const sections = { ...working, 'What cannot work': refusedPaths };
const paths = Object.values(sections).flat();
const columns = [SELECTS, ...propertyForms.map(({ title }) => title)];
// Where MySQL is there as well it has to work, and to agree with nothing.
const table = new PathTable(
  sections,
  columns,
  databaseKinds.filter((kind) => kind !== 'mysql'),
);

/** Opens families in a database of the suite's own. */
function useFamilies(kind: DatabaseKind, form: PropertyForm): (family: EntityFamily) => Promise<OpenedFamily> {
  const families = new Map<EntityFamily, Promise<OpenedFamily>>();
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase(kind);
  });
  afterAll(async () => {
    for (const family of families.values()) await (await family).close();
    await database.drop();
  });
  return (family) => {
    const present = families.get(family) ?? OpenedFamily.open(family, form, database.options);
    families.set(family, present);
    return present;
  };
}

describe.each(databaseKinds)('on %s', (kind) => {
  const selects = new Map<string, number>();
  const allowed = (path: string): number | undefined =>
    COUNTS_SELECTS ? selects.get(path) : publishedSelects(path, SELECTS, NAMES[kind] ?? kind);
  for (const { name } of refusedPaths) table.note(name, SELECTS, kind, '-');

  if (COUNTS_SELECTS) {
    describe('an ordinary key that the application assigns', () => {
      const open = useFamilies(kind, ordinaryKey);

      it.each(Object.values(working).flat())('tells how many SELECTs it costs: $name', async (path) => {
        const family = await open(path.family);
        selects.set(path.name, await family.selectsOf(path));
        table.note(path.name, SELECTS, kind, selects.get(path.name)!);
      });
    });
  }

  describe.each(propertyForms.map((form, index) => ({ form, index })))('a generated $form.title', ({ form, index }) => {
    const open = useFamilies(kind, form);
    const here = paths.filter(({ name: path }, pathPlace) =>
      runsHere({ kind, path, form: form.title, pathPlace, formPlace: index }),
    );

    it.each(here)('works without a SELECT more, or is refused: $name', async (path) => {
      const family = await open(path.family);
      const told = publishedCell(path.name, form.title);
      const isExpected = (failure: string): boolean => UPDATE_DOCS || told.includes(failure);
      table.note(path.name, form.title, kind, await family.outcomeOf(path, allowed(path.name), isExpected));
    });
  });
});

it('is in README.md of this folder as measured; UPDATE_DOCS=1 rewrites the table', () => {
  const measured = table.toString(UPDATE_DOCS ? undefined : publishedOutcome);
  process.stdout.write(`\n${measured}\n\n`);
  expect(measured).not.toContain(NOT_MEASURED);
  if (UPDATE_DOCS) publishTable(measured);
  expect(publishedTable()).toBe(measured);
});
