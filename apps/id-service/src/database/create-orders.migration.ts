import { Table, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';

/** Orders and their items; both keys are filled by `@GeneratedSnowflake()`, not by the database. */
export class CreateOrders1767225600000 implements MigrationInterface {
  readonly name = 'CreateOrders1767225600000';

  async up(runner: QueryRunner): Promise<void> {
    const text = textColumns(runner);
    await runner.createTable(
      new Table({
        name: 'demo_order',
        columns: [id('id', { isPrimary: true }), text('customer', 100)],
      }),
      true,
    );
    await runner.createTable(
      new Table({
        name: 'demo_order_item',
        columns: [
          id('id', { isPrimary: true }),
          id('order_id'),
          text('sku', 64),
          { name: 'quantity', type: 'integer' },
        ],
        indices: [{ name: 'demo_order_item_order', columnNames: ['order_id'] }],
        foreignKeys: [
          {
            name: 'demo_order_item_fk',
            columnNames: ['order_id'],
            referencedTableName: 'demo_order',
            referencedColumnNames: ['id'],
            onDelete: 'CASCADE',
            onUpdate: 'NO ACTION',
          },
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('demo_order_item', true);
    await runner.dropTable('demo_order', true);
  }
}

function id(name: string, more: Partial<TableColumnOptions> = {}): TableColumnOptions {
  return { name, type: 'bigint', ...more };
}

/** The MySQL family would take the database's character set, which may lack most of the world's names. */
function textColumns(runner: QueryRunner): (name: string, length: number) => TableColumnOptions {
  const { type } = runner.dataSource.options;
  const charset = type === 'mysql' || type === 'mariadb' ? 'utf8mb4' : undefined;
  return (name, length) => ({ name, type: 'varchar', length: String(length), charset });
}
