import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, DataSource, Entity } from 'typeorm';
import { databaseKinds, testDatabase } from '../../support/servers/test-databases.js';

@Entity('orders')
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 40 })
  customer!: string;
}

const QUIET = { log: () => undefined, warn: () => undefined, error: () => undefined };

it.each(databaseKinds)("a start with the README's four lines keeps the keys that %s made", async (kind) => {
  const key = {
    postgres: 'serial PRIMARY KEY',
    sqlite: 'integer PRIMARY KEY AUTOINCREMENT NOT NULL',
    mariadb: 'int NOT NULL AUTO_INCREMENT PRIMARY KEY',
    mysql: 'int NOT NULL AUTO_INCREMENT PRIMARY KEY',
  }[kind];
  const database = await testDatabase(kind);
  const outside = await new DataSource(database.options).initialize();
  await outside.query(`CREATE TABLE orders (id ${key}, customer varchar(40) NOT NULL)`);
  await outside.query("INSERT INTO orders (customer) VALUES ('first'), ('second')");
  const typeorm = TypeOrmModule.forRoot({
    ...database.options,
    entities: [Order],
    synchronize: true,
    retryAttempts: 1,
  });
  const start = Test.createTestingModule({ imports: [typeorm, RaindropModule.forRoot()] })
    .setLogger(QUIET)
    .compile();
  await expect(start).rejects.toMatchObject({ errorCode: 'UNMIGRATED_TABLE' });
  const rows = await outside.query<object[]>('SELECT customer FROM orders ORDER BY id');
  expect(rows.map((row) => ({ ...row }))).toEqual([{ customer: 'first' }, { customer: 'second' }]);
  await outside.destroy();
  await database.drop();
});
