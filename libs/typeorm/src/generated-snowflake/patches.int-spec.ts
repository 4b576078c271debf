import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  Column,
  DataSource,
  Entity,
  InsertQueryBuilder,
  PrimaryColumn,
  QueryBuilder,
  SelectQueryBuilder,
} from 'typeorm';

@Entity()
class Plain {
  @PrimaryColumn({ type: 'bigint' })
  id!: string;

  @Column({ type: 'int' })
  rank!: number;
}

const TYPEORM = dirname(require.resolve('typeorm'));

/** The lines of TypeORM that call a method, `file: call`; drivers hand such calls on to each other. */
function callsOf(method: string): string[] {
  const files = readdirSync(TYPEORM, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.js') && !/^(browser|driver|node_modules)\//.test(file));
  const call = new RegExp(`\\.${method}\\([^()[]*`, 'g');
  return files
    .flatMap((file) =>
      (readFileSync(join(TYPEORM, file), 'utf8').match(call) ?? []).map((found) => `${file}: ${found}`),
    )
    .sort();
}

describe('The methods of TypeORM that are replaced here', () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities: [Plain] });

  beforeAll(() => dataSource.initialize());
  afterAll(() => dataSource.destroy());

  it('take the parameters that they are given here', () => {
    const [column] = dataSource.getMetadata(Plain).primaryColumns;
    const builders = QueryBuilder.prototype as unknown as { getWhereInIdsCondition(ids: unknown): unknown };
    expect(dataSource.driver.preparePersistentValue).toHaveLength(2);
    expect(column!.compareEntityValue).toHaveLength(2);
    expect(Object.hasOwn(builders, 'getWhereInIdsCondition')).toBe(true);
    expect(builders.getWhereInIdsCondition).toHaveLength(1);
    expect(column!.getEntityValueMap).toHaveLength(1);
    expect(Object.hasOwn(InsertQueryBuilder.prototype, 'execute')).toBe(true);
    // It asks for callListeners twice, before the insert and after it, and then tells its subscribers of each row in turn.
    expect(
      String(InsertQueryBuilder.prototype.execute).match(/this\.expressionMap\.callListeners === true/g),
    ).toHaveLength(2);
    expect(String(InsertQueryBuilder.prototype.execute)).toMatch(
      /valueSets\.forEach\(\(valueSet\) => \{\s*queryRunner\.broadcaster\.broadcastBeforeInsertEvent\(/,
    );
    expect(SelectQueryBuilder.prototype.where).toHaveLength(2);
    expect(Object.hasOwn(SelectQueryBuilder.prototype, 'getMany')).toBe(true);
    // What it inserts is asked for again and again, and stands in one place.
    expect(String(InsertQueryBuilder.prototype.execute)).toMatch(/this\.getValueSets\(\)/);
    expect(String((InsertQueryBuilder.prototype as unknown as { getValueSets: unknown }).getValueSets)).toMatch(
      /return this\.expressionMap\.valuesSet;/,
    );
  });

  it('are called where they were, and nowhere else', () => {
    const byIds = (builder: string): string[] =>
      new Array<string>(3).fill(`query-builder/${builder}QueryBuilder.js: .getWhereInIdsCondition(ids`);
    expect(callsOf('preparePersistentValue')).toEqual([
      'query-builder/InsertQueryBuilder.js: .preparePersistentValue(value, column',
      'query-builder/UpdateQueryBuilder.js: .preparePersistentValue(value, column',
    ]);
    expect(callsOf('getWhereInIdsCondition')).toEqual(['Delete', 'Select', 'SoftDelete', 'Update'].flatMap(byIds));
    // `getEntityIdMap`; and MongoDB's way of updating.
    expect(callsOf('getEntityValueMap').filter((call) => !call.startsWith('metadata/ColumnMetadata.js'))).toEqual([
      'metadata/EntityMetadata.js: .getEntityValueMap(entity',
      'persistence/SubjectExecutor.js: .getEntityValueMap(subject.entity',
    ]);
    expect(callsOf('compareEntityValue')).toEqual([
      'query-builder/RelationIdLoader.js: .compareEntityValue(entity, relationId',
      'query-builder/RelationIdLoader.js: .compareEntityValue(relatedEntity, relationId',
    ]);
  });

  it('still need it: TypeORM gives the rows that it reads again to objects in the order in which they come', () => {
    const file = join(TYPEORM, 'query-builder/ReturningResultsEntityUpdator.js');
    const source = readFileSync(file, 'utf8').replace(/\s+/g, ' ');
    expect(source).toMatch(
      /\.where\(entityIds\) \.setOption\("create-pojo"\)[^;]*\.getMany\(\); entities\.forEach\(\(entity, entityIndex\)/,
    );
    expect(source).toMatch(/merge\(metadata\.target, entity, returningResult\[entityIndex\]\)/);
  });

  it('still need it: TypeORM lists keys only where they have no transformer', () => {
    const builders = QueryBuilder.prototype as unknown as { getWhereInIdsCondition(ids: unknown): unknown };
    expect(String(builders.getWhereInIdsCondition)).toMatch(/!primaryColumn\.transformer &&/);
  });
});
