import { Layout } from '@raindrop/core';
import {
  Column,
  DataSource,
  Entity,
  EntitySchema,
  Generated,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
  type DataSourceOptions,
  type MixedList,
  type Relation,
} from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { EntityLintError, type EntityLint, type EntityProblem } from './entity-lint.js';
import { GeneratedSnowflake, snowflakeColumn } from './generated-snowflake.decorator.js';

type Entities = MixedList<(new () => object) | EntitySchema>;

@Entity()
class Item {
  @GeneratedSnowflake()
  id!: string;
}

@Entity()
class NumberKey {
  @GeneratedSnowflake()
  id!: number;
}

@Entity()
class BigintKey {
  @GeneratedSnowflake()
  id!: bigint;
}

@Entity()
class BigintChild {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => BigintKey)
  parent!: Relation<BigintKey>;
}

@Entity()
class SharedKey {
  @GeneratedSnowflake()
  id!: string;

  @OneToOne(() => Item)
  @JoinColumn({ name: 'id' })
  item!: Relation<Item>;
}

@Entity()
class TwiceGenerated {
  @PrimaryGeneratedColumn()
  id!: number;

  @GeneratedSnowflake({ primary: false })
  @Generated('increment')
  twice!: string;
}

@Entity()
class LeftBeside {
  @PrimaryGeneratedColumn()
  pk!: number;

  @GeneratedSnowflake()
  id!: string;
}

@Entity()
class Tenant {
  @GeneratedSnowflake({ prefix: 'tenant' })
  tenantId!: string;

  @GeneratedSnowflake({ prefix: 'account' })
  id!: string;

  @OneToMany(() => LazyMember, ({ tenant }) => tenant)
  members!: Promise<LazyMember[]>;
}

@Entity()
class LazyMember {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Tenant, ({ members }) => members, { lazy: true })
  tenant!: Promise<Tenant>;
}

@Entity()
class Guest {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Tenant)
  tenant!: Relation<Tenant>;
}

/** With properties. */
@Entity()
class Owner {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'bigint', nullable: true })
  tenantTenantId!: string | null;

  @Column({ type: 'bigint', nullable: true })
  tenantId!: string | null;

  @ManyToOne(() => Tenant, { lazy: true })
  tenant!: Promise<Tenant>;
}

const textSchema = new EntitySchema({
  name: 'text',
  columns: { id: { ...snowflakeColumn(), type: 'varchar', length: 20 } },
});

describe.each(databaseKinds)('The lint of entities on %s', (kind) => {
  let database: TestDatabase;
  const opened: DataSource[] = [];
  const logged: string[] = [];
  const lint = (mode: EntityLint['mode']): EntityLint => ({ mode, warn: (message) => void logged.push(message) });

  beforeAll(async () => {
    database = await testDatabase(kind);
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.destroy()));
    logged.length = 0;
  });

  afterAll(() => database.drop());

  const open = async (entities: Entities, more: object = {}): Promise<DataSource> => {
    const options = { ...database.options, entities, ...more } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    opened.push(dataSource);
    return dataSource;
  };

  const problemsOf = (dataSource: DataSource, source = snowflakeSource()): readonly EntityProblem[] => {
    try {
      attachSnowflakes(dataSource, source, lint('error'));
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(EntityLintError);
      return (error as EntityLintError).problems;
    }
  };

  it.each<[string, Entities, string, RegExp]>([
    ['a number key when the layout is past 2^53', [NumberKey], 'number_key.id', /passed 2\^53 - 1 at 20/],
    ['a bigint key with relations', [BigintKey, BigintChild], 'bigint_key.id', /key of an entity with relations/],
    ['a column that is a foreign key, too', [SharedKey, Item], 'shared_key.id', /is a foreign key/],
    [
      'a lazy relation by two foreign keys',
      [Tenant, LazyMember, Owner],
      'lazy_member.tenant',
      /keys tenantTenantId and/,
    ],
    ['another column type', [textSchema], 'text.id', /type is 'varchar'/],
    ...(kind === 'postgres'
      ? [
          ['a generated column', [TwiceGenerated], 'twice_generated.twice', /generates this column as well/] as never,
          ['a generated key beside', [LeftBeside], 'left_beside.id', /'pk', which the database generates, is/] as never,
        ]
      : []),
  ])('refuses %s: entity, property, driver and cure', async (_, entities, place, reason) => {
    const dataSource = await open(entities);
    const [problem, ...others] = problemsOf(dataSource);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ severity: 'error', driver: database.options.type });
    expect(`${problem!.table}.${problem!.property}`).toBe(place);
    expect(problem!.problem).toMatch(reason);
    expect(problem!.cure).toMatch(/^[A-Z].+/);
    expect(dataSource.subscribers).toEqual([]);
  });

  it("refuses two foreign keys without properties where 'query' is the strategy of the DataSource", async () => {
    const entities = [Tenant, LazyMember, Guest, Owner];
    const places = (dataSource: DataSource): string[] =>
      problemsOf(dataSource).map(({ table, property }) => `${table}.${property}`);
    expect(places(await open(entities))).toEqual(['lazy_member.tenant']);
    const queried = await open(entities, { relationLoadStrategy: 'query' });
    expect(places(queried).sort()).toEqual(['guest.tenant', 'lazy_member.tenant']);
  });

  it('warns once when the compiler has kept no types, and not where the column says what it is', async () => {
    // As esbuild and tsx leave it.
    class First {}
    class Second {}
    class Said {}
    class Typed {}
    for (const each of [First, Second, Said, Typed]) Entity()(each);
    for (const each of [First, Second]) GeneratedSnowflake()(each.prototype, 'id');
    GeneratedSnowflake({ as: 'string' })(Said.prototype, 'id');
    GeneratedSnowflake({ prefix: 'typed' })(Typed.prototype, 'id');
    attachSnowflakes(await open([First, Second, Said, Typed, Item]), snowflakeSource(), lint('error'));
    expect(logged).toEqual([
      expect.stringMatching(/^first\.id .*did not emit the property's type .*as do 1 more.*Set as: 'string'/),
    ]);
  });

  it('names all that is wrong at once, and attaches nothing', async () => {
    const dataSource = await open([NumberKey, BigintKey, BigintChild, textSchema, Item]);
    expect(problemsOf(dataSource)).toHaveLength(3);
    await expect(dataSource.manager.save(new Item())).rejects.toMatchObject({ errorCode: 'SNOWFLAKE_NOT_ASSIGNED' });
  });

  it("attaches all the same with 'warn', and says each problem; says nothing with 'off'", async () => {
    const dataSource = await open([NumberKey, Item], { synchronize: true });
    const { detach } = attachSnowflakes(dataSource, snowflakeSource(), lint('warn'));
    expect(logged).toEqual([
      expect.stringMatching(
        /^number_key\.id \(.+\): .+\. Make the property a string, or .+ layout: 'number', for new tables\.$/,
      ),
    ]);
    expect((await dataSource.manager.save(new Item())).id).toMatch(/^\d+$/);
    detach();
    attachSnowflakes(dataSource, snowflakeSource(), lint('off'));
    expect(logged).toHaveLength(1);
  });

  it('warns of numbers that will pass 2^53 within a year, and starts', async () => {
    const soon = { safeUntil: new Date(Date.now() + 30 * 86_400_000) } as Layout;
    expect(problemsOf(await open([NumberKey]), snowflakeSource('default', { layout: soon }))).toEqual([]);
    expect(logged).toEqual([expect.stringContaining('will pass 2^53 - 1 at 20')]);
  });

  it.each(['sqljs', 'expo', 'mongodb', 'cockroachdb'])('judges the driver: %s', async (type) => {
    const real = await open([Item, NumberKey]);
    const other = Object.create(real, { options: { value: { ...real.options, type } } }) as DataSource;
    const found = problemsOf(other, snowflakeSource('default', { layout: { safeUntil: null } as Layout }));
    if (type === 'cockroachdb') {
      expect(logged).toEqual([expect.stringContaining('not tested'), expect.stringContaining('not tested')]);
    } else expect(found.map(({ entity }) => entity)).toEqual(type === 'mongodb' ? ['Item', 'NumberKey'] : ['Item']);
  });

  it('accepts a bigint key without relations, which then works', async () => {
    const dataSource = await open([BigintKey], { synchronize: true });
    attachSnowflakes(dataSource, snowflakeSource());
    const repository = dataSource.getRepository(BigintKey);
    const [first, second] = await repository.save([new BigintKey(), new BigintKey()]);
    expect(typeof first!.id).toBe('bigint');
    expect(await repository.findOneByOrFail({ id: first!.id })).toEqual(first);
    await repository.remove(await repository.findOneByOrFail({ id: second!.id }));
    await repository.delete({ id: first!.id });
    expect(await repository.count()).toBe(0);
  });
});

describe('The lint of driver settings', () => {
  @Entity()
  class Small {
    @GeneratedSnowflake()
    id!: number;

    @Column({ type: 'int', nullable: true })
    row!: number;
  }

  it.each([
    ['mariadb' as const, { supportBigNumbers: false }, /supportBigNumbers/],
    ['mariadb' as const, { extra: { supportBigNumbers: false } }, /supportBigNumbers/],
    ['postgres' as const, { parseInt8: true }, /int8/],
  ])('refuses what rounds on %s: %j', async (kind, setting, reason) => {
    const database = await testDatabase(kind);
    const options = { ...database.options, ...setting, entities: [Item, Small] } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    const source = snowflakeSource('default', { layout: { safeUntil: null } as Layout });
    let failure: unknown;
    try {
      attachSnowflakes(dataSource, source);
    } catch (error) {
      failure = error;
    }
    await dataSource.destroy();
    await database.drop();
    expect(failure).toMatchObject({ errorCode: 'ENTITY_LINT', message: expect.stringMatching(reason) as string });
    expect((failure as EntityLintError).problems.map(({ entity }) => entity)).toEqual(['Item']);
  });
});
