import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import { Order } from './order.entity.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'orders.sqlite', entities: [Order], synchronize: true }),
    RaindropModule.forRoot(),
  ],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class AppModule {}
