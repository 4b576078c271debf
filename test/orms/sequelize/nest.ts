/** The model and the module that docs/orms.md shows for Nest, in an application that inserts while it starts and ends. */
import 'reflect-metadata';
import { equal } from 'node:assert/strict';
import { InjectModel, SequelizeModule } from '@nestjs/sequelize';
import { type BeforeApplicationShutdown, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { checkPrecision, snowflakeKey, withSnowflakes } from '@raindrop/orm/sequelize';
import type { CreationOptional, InferAttributes, InferCreationAttributes } from 'sequelize';
import { Column, Model, Sequelize, Table } from 'sequelize-typescript';
import { database } from './shop.js';

const { host, port, username, password, database: name } = database;
const url = `postgres://${username}:${encodeURIComponent(password)}@${host}:${port}/${name}`;

@Table
class Order extends Model<InferAttributes<Order>, InferCreationAttributes<Order>> {
  @Column(snowflakeKey())
  declare id: CreationOptional<string>;

  @Column
  declare customer: string;
}

@Injectable()
class Orders implements OnModuleInit, BeforeApplicationShutdown {
  readonly saved: Order[] = [];

  constructor(@InjectModel(Order) private readonly orders: typeof Order) {}

  async onModuleInit(): Promise<void> {
    this.saved.push(await this.orders.create({ customer: 'the first' }));
    this.saved.push(
      ...(await this.orders.bulkCreate([{ customer: 'a' }, { customer: 'b' }], { fields: ['customer'] })),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.saved.push(await this.orders.create({ customer: 'the last' }));
  }
}

@Module({ imports: [SequelizeModule.forFeature([Order])], providers: [Orders] })
class OrdersModule {}

@Module({
  imports: [
    RaindropModule.forRoot({ dbConfig: url }),
    SequelizeModule.forRootAsync({
      inject: [IdService],
      useFactory: () =>
        withSnowflakes({ dialect: 'postgres', uri: url, autoLoadModels: true, synchronize: true, logging: false }),
    }),
    OrdersModule,
  ],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
await checkPrecision(app.get(Sequelize));
const orders = app.get(Orders);
const stored = await Order.findAll({ order: [['id', 'asc']] });
equal(stored.map(({ id }) => id).join(), orders.saved.map(({ id }) => id).join());
await app.close();
console.log(JSON.stringify({ filled: orders.saved.filter(({ id }) => /^\d{17,19}$/.test(id)).length }));
