import type { EntityFamily } from '../product/entities/entity-family.js';
import type { EntityPath } from '../product/entities/entity-path.js';
import { OpenedFamily } from '../product/entities/opened-family.js';
import { propertyForms } from '../product/entities/property-form.js';
import { databaseKinds, testDatabase, type DatabaseKind } from '../support/servers/test-databases.js';
import { record, recordedOn } from './matrix.js';
import { READS, WRITES, type TypeormRow } from './typeorm-paths.js';

/** The forms of a key as the table names them, and as test/product/entities does. */
const FORMS = { text: 'string', bigint: 'bigint', number: 'number' } as const;
/** Three forms, 60 paths each. */
const DEADLINE_MS = 300_000;

/** What became of a path, in the words of the table. */
async function resultOf(family: OpenedFamily, path: EntityPath, row: TypeormRow, right: string): Promise<string> {
  let outcome: string;
  try {
    outcome = await family.outcomeOf(path, undefined, () => true);
  } catch (error) {
    // Only what the path itself has compared.
    if (row.wrongBy === undefined || !(error instanceof Error) || !('matcherResult' in error)) throw error;
    return `wrong: ${row.wrongBy}`;
  }
  if (outcome === 'yes') return right;
  if (outcome === 'fails: QueryFailedError') return 'refused: by the database';
  return outcome.replace(/^fails: .*/, 'refused: by TypeORM');
}

/** Takes every path in every form, in a database for each. */
async function takePaths(kind: DatabaseKind): Promise<Record<string, Record<string, string>>> {
  const cells: Record<string, Record<string, string>> = {};
  const tables = [
    { prefix: 'write', right: 'filled', of: WRITES },
    { prefix: 'read', right: 'exact', of: READS },
  ];
  for (const [name, title] of Object.entries(FORMS)) {
    const form = propertyForms.find((each) => each.title === title)!;
    const database = await testDatabase(kind);
    const families = new Map<EntityFamily, OpenedFamily>();
    try {
      for (const { prefix, right, of } of tables) {
        for (const row of of) {
          const results = new Set<string>();
          for (const path of row.on?.includes(kind) === false ? [] : row.paths) {
            const family = families.get(path.family) ?? (await OpenedFamily.open(path.family, form, database.options));
            families.set(path.family, family);
            results.add(await resultOf(family, path, row, row.right ?? right));
          }
          if (results.size > 1) throw new Error(`paths of '${row.row}' come out as ${[...results].join(' and ')}`);
          (cells[`${prefix} ${row.row}`] ??= {})[name] = [...results][0] ?? '-';
        }
      }
    } finally {
      for (const family of families.values()) await family.close();
      await database.drop();
    }
  }
  return cells;
}

it.each(databaseKinds.filter((kind) => kind !== 'mysql'))(
  'TypeORM on %s fills, reads or refuses on every path, as docs/write-paths.md says',
  async (kind) => {
    const cells = await takePaths(kind);
    record('typeorm', 'TypeORM 1', kind, cells);
    // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
    expect(cells).toEqual(recordedOn('typeorm', kind));
  },
  DEADLINE_MS,
);
