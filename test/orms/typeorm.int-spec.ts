import type { EntityFamily } from '../product/entities/entity-family.js';
import type { EntityPath } from '../product/entities/entity-path.js';
import { OpenedFamily } from '../product/entities/opened-family.js';
import { type Id, type PropertyForm, propertyForms } from '../product/entities/property-form.js';
import { isOfDatabase, issuingDatabase } from '../support/servers/id-function.js';
import { databaseKinds, testDatabase, type DatabaseKind } from '../support/servers/test-databases.js';
import { record, recordedOn, withRawDeclared } from './matrix.js';
import { RAW_BY_DATABASE, READS, WRITES, type TypeormRow } from './typeorm-paths.js';

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

/** A form whose columns have a default in the database, and whose rows have IDs of the process all the same. */
function withDefault(form: PropertyForm): PropertyForm {
  const { generated, schemaColumn, keyType } = form.make;
  const make: PropertyForm['make'] = {
    generated: (options) => generated({ databaseDefault: true, ...options }),
    schemaColumn: (options) => schemaColumn({ databaseDefault: true, ...options }),
    keyType,
  };
  return { ...form, make, isForm: (value) => form.isForm(value) && !isOfDatabase(form.digits(value as Id)) };
}

/**
 * Takes every path in every form, in a database for each.
 * @param isDeclared whether the columns have `databaseDefault`
 */
async function takePaths(kind: DatabaseKind, isDeclared = false): Promise<Record<string, Record<string, string>>> {
  const cells: Record<string, Record<string, string>> = {};
  const tables = [
    {
      prefix: 'write',
      right: 'filled',
      of: isDeclared ? WRITES.map((row) => (row.row === 'raw' ? RAW_BY_DATABASE : row)) : WRITES,
    },
    { prefix: 'read', right: 'exact', of: READS },
  ];
  for (const [name, title] of Object.entries(FORMS)) {
    const plain = propertyForms.find((each) => each.title === title)!;
    const form = isDeclared ? withDefault(plain) : plain;
    const database = isDeclared ? await issuingDatabase() : await testDatabase(kind);
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
    const declared = kind === 'postgres' ? await takePaths(kind, true) : undefined;
    const cells = withRawDeclared(await takePaths(kind), declared);
    record('typeorm', 'TypeORM 1', kind, cells);
    // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
    expect(cells).toEqual(recordedOn('typeorm', kind));
  },
  DEADLINE_MS,
);
