import { In, type DataSource, type EntityMetadata, type ObjectLiteral } from 'typeorm';
import type { Claim, LinksClaim, PathSetting, RowsClaim } from './entity-path.js';
import type { Id } from './property-form.js';
import type { StoredRow, StoredTables } from './stored-rows.js';

type Setting = PathSetting<unknown>;

/**
 * Proves what a path says it has done: IDs in the property's form, the same digits in the database, foreign keys equal,
 * every row found again by its ID, and not one row more or fewer than claimed, in any table.
 */
export async function checkClaims(
  setting: Setting,
  before: StoredTables,
  after: StoredTables,
  claims: readonly Claim[],
): Promise<void> {
  const rows = claims.filter((claim): claim is RowsClaim => 'objects' in claim);
  const links = claims.filter((claim): claim is LinksClaim => 'pairs' in claim);
  const expected = new Map([...expectedRows(setting, rows), ...expectedJunctions(setting, links)]);
  const found = [...after].map(([table, stored]) => {
    const was = before.get(table)!;
    const lost = [...was.keys()].filter((key) => !stored.has(key));
    const added = [...stored].filter(([key]) => !was.has(key)).map(([, row]) => row);
    const { columns } = expected.get(table) ?? { columns: [] };
    return { table, lost, rows: added.map((row) => columns.map((column) => row[column]).join()).sort() };
  });
  const claimed = [...after.keys()].map((table) => {
    return { table, lost: [], rows: [...(expected.get(table)?.values ?? [])].sort() };
  });
  expect(found).toEqual(claimed);
  for (const claim of links) checkForeignKeys(setting, claim, after);
  for (const claim of rows) await checkFoundAgain(setting, claim);
}

interface Expected {
  readonly columns: readonly string[];
  readonly values: string[];
}

function expectedRows({ dataSource, form }: Setting, claims: readonly RowsClaim[]): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  for (const { entity, objects, property } of claims) {
    const metadata = dataSource.getMetadata(entity);
    const column = metadata.findColumnWithPropertyPath(property)!;
    const ids = objects.map((object) => column.getEntityValue(object) as Id);
    expect(ids.filter((id) => !form.isForm(id))).toEqual([]);
    const values = expected.get(metadata.tablePath)?.values ?? [];
    values.push(...ids.map((id) => form.digits(id)));
    expected.set(metadata.tablePath, { columns: [column.databaseName], values });
  }
  return expected;
}

/** What the join tables and closure tables have to hold. */
function expectedJunctions(setting: Setting, claims: readonly LinksClaim[]): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  for (const { entity, relation, pairs } of claims) {
    const metadata = setting.dataSource.getMetadata(entity);
    const { junctionEntityMetadata, joinColumns, inverseJoinColumns } =
      metadata.findRelationWithPropertyPath(relation)!;
    if (junctionEntityMetadata !== undefined) {
      const columns = [...joinColumns, ...inverseJoinColumns].map(({ databaseName }) => databaseName);
      expected.set(junctionEntityMetadata.tablePath, {
        columns,
        values: pairs.map((pair) => pair.map((each) => keyDigits(setting, each)).join()),
      });
    }
    if (metadata.treeType === 'closure-table') {
      const { tablePath, ancestorColumns, descendantColumns } = metadata.closureJunctionTable;
      const columns = [...ancestorColumns, ...descendantColumns].map(({ databaseName }) => databaseName);
      expected.set(tablePath, { columns, values: closure(setting, pairs) });
    }
  }
  return expected;
}

/** `ancestor,descendant` for every node and each of its ancestors, itself included. */
function closure(setting: Setting, pairs: LinksClaim['pairs']): string[] {
  const parents = new Map(pairs.map(([node, parent]) => [keyDigits(setting, node), keyDigits(setting, parent)]));
  return [...parents.keys()].flatMap((node) => {
    const lines: string[] = [];
    for (let up: string | null | undefined = node; up; up = parents.get(up)) lines.push(`${up},${node}`);
    return lines;
  });
}

function checkForeignKeys(setting: Setting, { entity, relation, pairs }: LinksClaim, after: StoredTables): void {
  const metadata = setting.dataSource.getMetadata(entity);
  const { joinColumns, junctionEntityMetadata } = metadata.findRelationWithPropertyPath(relation)!;
  if (junctionEntityMetadata !== undefined) return;
  const foreignKey = joinColumns[0]!;
  const rows = [...after.get(metadata.tablePath)!.values()];
  const stored = pairs.map(([owner]) => rows.find((row) => isRowOf(setting, metadata, owner, row)));
  const referenced = foreignKey.referencedColumn!;
  expect(stored.map((row) => row?.[foreignKey.databaseName])).toEqual(
    pairs.map(([, inverse]) =>
      inverse === null ? null : setting.form.digits(referenced.getEntityValue(inverse) as Id),
    ),
  );
}

function isRowOf({ form }: Setting, metadata: EntityMetadata, object: object, row: StoredRow): boolean {
  return metadata.primaryColumns.every((column) => {
    const value = column.getEntityValue(object) as Id;
    const text = form.isForm(value) ? form.digits(value) : String(value);
    return row[column.databaseName] === text;
  });
}

function keyDigits({ form }: Setting, object: object | null): string | null {
  return object === null ? null : form.digits((object as { id: Id }).id);
}

async function checkFoundAgain({ dataSource, form }: Setting, { entity, objects, property }: RowsClaim): Promise<void> {
  const column = dataSource.getMetadata(entity).findColumnWithPropertyPath(property)!;
  const ids = objects.map((object) => column.getEntityValue(object) as Id);
  const found = await findBy(dataSource, entity, property, In(ids));
  const digits = (row: ObjectLiteral): string => form.digits(column.getEntityValue(row) as Id);
  expect(found.map((row) => column.getEntityValue(row) as Id).filter((id) => !form.isForm(id))).toEqual([]);
  expect(found.map(digits).sort()).toEqual(ids.map((id) => form.digits(id)).sort());
  for (const id of ids.slice(0, 3)) {
    expect((await findBy(dataSource, entity, property, id)).map(digits)).toEqual([form.digits(id)]);
  }
  if (form.title === 'bigint') return;
  const json = JSON.parse(JSON.stringify(found)) as ObjectLiteral[];
  expect(json.filter((row) => !form.isForm(column.getEntityValue(row)))).toEqual([]);
}

function findBy(
  dataSource: DataSource,
  entity: RowsClaim['entity'],
  property: string,
  condition: unknown,
): Promise<ObjectLiteral[]> {
  const where = property.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), condition);
  return dataSource.getRepository(entity).find({ where: where as ObjectLiteral, loadEagerRelations: false });
}
