/**
 * The module that docs/kysely.md shows for Nest, in an application whose first order is inserted while its providers are
 * made, and whose last one while it shuts down.
 */
import 'reflect-metadata';
import { equal, rejects } from 'node:assert/strict';
import { type BeforeApplicationShutdown, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { withSnowflakes } from '@raindrop/orm/kysely';
import { type Generated, Kysely, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import { database } from './shop.js';

interface Shop {
  orders: { id: Generated<string>; customer: string };
}

const { host, port, username, password, database: name } = database;
const url = `postgres://${username}:${encodeURIComponent(password)}@${host}:${port}/${name}`;

@Module({
  imports: [RaindropModule.forRoot({ dbConfig: url })],
  providers: [
    {
      provide: Kysely,
      inject: [IdService],
      useFactory: (ids: IdService) => {
        const dialect = new PostgresDialect({ pool: new Pool({ connectionString: url }) });
        return new Kysely<Shop>({ dialect: withSnowflakes(dialect, { ids, columns: { orders: ['id'] } }) });
      },
    },
  ],
  exports: [Kysely],
})
export class ShopDatabase implements OnApplicationShutdown {
  constructor(private readonly db: Kysely<Shop>) {}

  async onApplicationShutdown(): Promise<void> {
    await this.db.destroy();
  }
}

function insert(db: Kysely<Shop>, customer: string): Promise<{ id: string }> {
  return db.insertInto('orders').values({ customer }).returning('id').executeTakeFirstOrThrow();
}

@Injectable()
class Orders implements BeforeApplicationShutdown {
  last: { id: string } | undefined;

  constructor(private readonly db: Kysely<Shop>) {}

  async beforeApplicationShutdown(): Promise<void> {
    this.last = await insert(this.db, 'the last');
  }
}

@Module({
  imports: [ShopDatabase],
  providers: [
    Orders,
    {
      provide: 'the first',
      inject: [Kysely],
      useFactory: async (db: Kysely<Shop>) => {
        await sql`drop table if exists orders`.execute(db);
        await sql`create table orders (id bigint not null primary key, customer text not null)`.execute(db);
        return insert(db, 'the first');
      },
    },
  ],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
const ids = app.get(IdService);
const first = app.get<{ id: string }>('the first');
equal(typeof ids.parse(first.id), 'object');
await app.close();
const { last } = app.get(Orders);
equal(BigInt(last!.id) > BigInt(first.id), true);
await rejects(insert(app.get<Kysely<Shop>>(Kysely), 'too late'), /destroyed/);
equal(ids.refusal() !== undefined, true);
console.log(JSON.stringify({ filled: 2 }));
