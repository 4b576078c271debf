import type { NestProject } from './nest-project.js';

/** An ORM other than TypeORM, with the lines that give its keys their IDs. */
interface Orm {
  /** The package by which a project is known to use it. */
  readonly name: string;
  /** The line that opens the database, and that of a key. */
  readonly lines: readonly string[];
  /** Its entry of `@raindrop/orm`, and its page in docs. */
  readonly entry: string;
}

const ORMS: readonly Orm[] = [
  {
    name: 'kysely',
    lines: [`new Kysely<Shop>({ dialect: withSnowflakes(dialect, { columns: { orders: ['id'] } }) })`],
    entry: 'kysely',
  },
  { name: 'drizzle-orm', lines: [`id: snowflake().primaryKey()`], entry: 'drizzle' },
  {
    name: '@mikro-orm/core',
    lines: [`entityManager: withSnowflakes(EntityManager)`, `@SnowflakePrimaryKey() id!: string;`],
    entry: 'mikro-orm',
  },
  {
    name: 'sequelize',
    lines: [
      `new Sequelize(withSnowflakes({ ... })), or SequelizeModule.forRoot(withSnowflakes({ ... }))`,
      `id: snowflakeKey(), or @Column(snowflakeKey()) declare id: CreationOptional<string>;`,
    ],
    entry: 'sequelize',
  },
  { name: '@prisma/client', lines: [`prisma.$extends(snowflakes(ids))`], entry: 'prisma' },
  ...['@prisma/orm-postgres', '@prisma/orm-sqlite'].map((name) => ({
    name,
    lines: [
      'id BigInt @id @default(snowflake())',
      'extensions: [snowflakes()] in prisma.config.ts',
      'const raindrop = snowflakes(ids), in extensions and middleware of the client',
    ],
    entry: 'prisma-8',
  })),
];

/** Returns the ORM of an application without TypeORM; undefined when none is known. */
export function ormOf({ packages }: NestProject): Orm | undefined {
  return packages.includes('typeorm') ? undefined : ORMS.find(({ name }) => packages.includes(name));
}

/** The steps that `init` leaves to the user, because they change files of the application's own. */
export function ormRemaining({ lines, entry }: Orm): string[] {
  return [
    ...lines.map((line) => `${line}, of @raindrop/orm/${entry}`),
    `inject IdService into the provider of the database, so that the service is open before the first insert: docs/${entry}.md`,
  ];
}
