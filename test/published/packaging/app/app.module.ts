import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { HealthController } from './health.controller.js';
import { Order } from './order.js';
import { OrdersController } from './orders.controller.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'app.sqlite', entities: [Order], synchronize: true }),
    TypeOrmModule.forFeature([Order]),
    RaindropModule.forRoot({
      startTimeStamp: '2024-01-01',
      timeStampLength: 33,
      workIdLength: 10,
      endBitsLength: 1,
      // One worker id only: the next start finds none unless this one gave it back.
      serviceMinWorkId: 7,
      serviceMaxWorkId: 7,
    }),
    TerminusModule,
  ],
  controllers: [OrdersController, HealthController],
  providers: [RaindropHealthIndicator],
})
export class AppModule {}
