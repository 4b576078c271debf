import { Module, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropExceptionFilter, RaindropModule } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { workerTableMigration } from '@raindrop/nestjs/typeorm';
import { HealthController } from './health.controller.js';
import { CreateOrders1767225600000 } from './migrations/1767225600000-create-orders.js';
import { OrdersModule } from './orders/orders.module.js';

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      useFactory: () => ({
        type: 'better-sqlite3',
        database: process.env.DATABASE ?? 'shop.sqlite',
        autoLoadEntities: true,
        migrations: [workerTableMigration(), CreateOrders1767225600000],
        migrationsRun: true,
      }),
    }),
    // Leases its worker id in the DataSource above; the first of the migrations has made the table.
    RaindropModule.forRootAsync({ useFactory: () => ({ autoCreateTable: false }) }),
    TerminusModule,
    OrdersModule,
  ],
  controllers: [HealthController],
  providers: [
    RaindropHealthIndicator,
    { provide: APP_PIPE, useValue: new ValidationPipe({ transform: true, whitelist: true }) },
    { provide: APP_FILTER, useClass: RaindropExceptionFilter },
  ],
})
export class AppModule {}
