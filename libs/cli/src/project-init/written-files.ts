import type { SupportedDatabase } from '@raindrop/node';

/** The entity that shows how IDs are used. */
export const ENTITY = `import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, Entity } from 'typeorm';

/** Its id is a bigint in the database and a text in JavaScript, whose numbers end at 2^53. */
@Entity('orders')
export class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ length: 100 })
  customer!: string;
}
`;

/** @param timestamp the place of the migration among the others, Unix ms */
export function migrationText(timestamp: number): string {
  const name = `CreateOrders${timestamp}`;
  return `import { workerTableMigration } from '@raindrop/nestjs/typeorm';
import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Creates the table in which processes lease their worker ids. */
export const CreateWorkerTable = workerTableMigration();

/** Creates the table of orders. Its key is filled by @GeneratedSnowflake(), not by the database. */
export class ${name} implements MigrationInterface {
  readonly name = '${name}';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'orders',
        columns: [
          { name: 'id', type: 'bigint', isPrimary: true },
          { name: 'customer', type: 'varchar', length: '100' },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('orders');
  }
}
`;
}

/** What makes a DataSource where the application has none. A password stays in the variable. */
export function typeormElement(type: SupportedDatabase | undefined, migrations: string): string {
  const place =
    type === undefined || type === 'better-sqlite3' ? `database: 'app.sqlite'` : `url: process.env['DATABASE_URL']`;
  const lines = [
    `type: '${type ?? 'better-sqlite3'}'`,
    place,
    'autoLoadEntities: true',
    `migrations: Object.values(${migrations})`,
    'migrationsRun: true',
  ];
  return `TypeOrmModule.forRoot({\n${lines.map((line) => `      ${line},\n`).join('')}    })`;
}
