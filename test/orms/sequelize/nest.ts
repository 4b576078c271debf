/** The model and the module that docs/sequelize.md shows for Nest, in an application that inserts while it starts and ends. */
import 'reflect-metadata';
import { equal } from 'node:assert/strict';
import { InjectModel, SequelizeModule } from '@nestjs/sequelize';
import {
  type BeforeApplicationShutdown,
  Controller,
  Get,
  Injectable,
  Module,
  type OnModuleInit,
  Param,
  Post,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { BigIntInterceptor, IdService, ParseIdPipe, RaindropModule } from '@raindrop/nestjs';
import { checkPrecision, snowflakeReference, snowflakeKey, withSnowflakes } from '@raindrop/orm/sequelize';
import type { CreationOptional, InferAttributes, InferCreationAttributes, NonAttribute } from 'sequelize';
import { BelongsTo, Column, ForeignKey, HasMany, Model, Sequelize, Table } from 'sequelize-typescript';
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

@Table
class Shipment extends Model<InferAttributes<Shipment>, InferCreationAttributes<Shipment>> {
  @Column(snowflakeKey({ as: 'bigint' }))
  declare id: CreationOptional<bigint>;

  @HasMany(() => Parcel)
  declare parcels?: NonAttribute<Parcel[]>;
}

@Table
class Parcel extends Model<InferAttributes<Parcel>, InferCreationAttributes<Parcel>> {
  @Column(snowflakeKey({ as: 'bigint' }))
  declare id: CreationOptional<bigint>;

  @ForeignKey(() => Shipment)
  @Column(snowflakeReference({ as: 'bigint' }))
  declare shipmentId: CreationOptional<bigint>;

  @BelongsTo(() => Shipment)
  declare shipment?: NonAttribute<Shipment>;
}

/** Answers with instances as they are: their `toJSON` is Sequelize's. */
@Controller('shipments')
class ShipmentsController {
  @Post()
  ship(): Promise<Shipment> {
    return Shipment.create({ parcels: [{}, {}] } as object, { include: [Parcel] });
  }

  @Get(':id')
  async find(@Param('id', new ParseIdPipe({ as: 'bigint' })) id: bigint): Promise<{ shipment: Shipment | null }> {
    return { shipment: await Shipment.findByPk(String(id), { include: [Parcel] }) };
  }
}

@Module({
  imports: [SequelizeModule.forFeature([Order, Shipment, Parcel])],
  controllers: [ShipmentsController],
  providers: [Orders, { provide: APP_INTERCEPTOR, useClass: BigIntInterceptor }],
})
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

const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
await app.listen(0, '127.0.0.1');
await checkPrecision(app.get(Sequelize));
const orders = app.get(Orders);
const all = await Order.findAll({ order: [['id', 'asc']] });
equal(all.map(({ id }) => id).join(), orders.saved.map(({ id }) => id).join());

const shipments = `${await app.getUrl()}/shipments`;
type Shown = { id: string; parcels: { id: string; shipmentId: string }[] };
const post = await fetch(shipments, { method: 'POST' });
equal(post.status, 201);
const shipped = (await post.json()) as Shown;
const get = await fetch(`${shipments}/${shipped.id}`);
equal(get.status, 200);
const { shipment: found } = (await get.json()) as { shipment: Shown };
const shown = [shipped, found].map(({ id, parcels }) => [id, ...parcels.flatMap((each) => [each.id, each.shipmentId])]);
const stored = (await Shipment.findAll({ include: [Parcel] })).flatMap(({ id, parcels }) => [
  id,
  ...parcels!.flatMap((each) => [each.id, each.shipmentId]),
]);
const sorted = (ids: readonly (bigint | string)[]): string => ids.map(String).sort().join();
equal(sorted(shown[0]!), sorted(stored));
equal(sorted(shown[1]!), sorted(stored));
await app.close();
console.log(
  JSON.stringify({ filled: orders.saved.filter(({ id }) => /^\d{17,19}$/.test(id)).length, shown: shown[0]!.length }),
);
