import { MikroOrmModule } from '@mikro-orm/nestjs';
import { EntityManager, MikroORM, SqliteDriver } from '@mikro-orm/sqlite';
import { Module, type OnModuleInit } from '@nestjs/common';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { withSnowflakes } from '@raindrop/orm/mikro-orm';
import { Order } from './order.entity.js';
import { OrdersController } from './orders.controller.js';

@Module({
  imports: [
    RaindropModule.forRoot({ workerIdAssigner: 'static', workerId: 1, stateFile: 'worker' }),
    MikroOrmModule.forRootAsync({
      driver: SqliteDriver,
      // MikroORM waits for the service, so no insert comes before it.
      inject: [IdService],
      useFactory: () => ({
        dbName: 'orders.sqlite',
        entities: [Order],
        entityManager: withSnowflakes(EntityManager),
      }),
    }),
  ],
  controllers: [OrdersController],
})
export class AppModule implements OnModuleInit {
  constructor(private readonly orm: MikroORM) {}

  /** The order is found by its reference at every further start, and keeps its ID. */
  async onModuleInit(): Promise<void> {
    await this.orm.schema.update();
    await this.orm.em.fork().upsert(Order, { reference: 'first', customer: 'Ada' });
  }
}
