import { Module, type DynamicModule } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { dataSourceOptions, openDatabase } from './database/open-database.js';
import type { DemoConfig } from './demo-config.js';
import { demoLayout } from './demo-layout.js';
import { DatabaseHealthIndicator } from './health/database.health.js';
import { HealthController } from './health/health.controller.js';
import { IdsController } from './ids/ids.controller.js';
import { BusinessNumbersService } from './numbers/business-numbers.service.js';
import { NUMBER_CODES, NUMBERS } from './numbers/number-codes.js';
import { NumbersController } from './numbers/numbers.controller.js';
import { Order } from './orders/order.entity.js';
import { OrdersController } from './orders/orders.controller.js';
import { OrdersService } from './orders/orders.service.js';

@Module({})
export class DemoModule {
  static forConfig({ database, workers }: DemoConfig): DynamicModule {
    return {
      module: DemoModule,
      imports: [
        TypeOrmModule.forRootAsync({
          // openDatabase does the retrying.
          useFactory: () => ({ ...dataSourceOptions(database), retryAttempts: 0, toRetry: () => false }),
          dataSourceFactory: (options) => openDatabase(options!),
        }),
        TypeOrmModule.forFeature([Order]),
        RaindropModule.forRoot({
          ...demoLayout,
          serviceMinWorkId: workers.min,
          serviceMaxWorkId: workers.max,
        }),
        RaindropModule.forRoot({
          name: NUMBERS,
          idMode: 'numberSection',
          codes: NUMBER_CODES,
          sharded: { apps: [{ id: 1, name: 'demo', description: 'What the demo issues for the public' }] },
        }),
        TerminusModule,
      ],
      controllers: [IdsController, OrdersController, NumbersController, HealthController],
      providers: [OrdersService, BusinessNumbersService, DatabaseHealthIndicator, RaindropHealthIndicator],
    };
  }
}
