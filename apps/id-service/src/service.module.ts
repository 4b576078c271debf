import { Module, type DynamicModule } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { dataSourceOptions, openDatabase } from './database/open-database.js';
import { Drain } from './drain.js';
import { HealthController } from './health/health.controller.js';
import { ApiKeys } from './http/api-keys.js';
import { StrangersNames } from './http/new-names.js';
import { DecodeIdsController } from './ids/decode-ids.controller.js';
import { IdStreams } from './ids/id-streams.js';
import { IdsUnderWay } from './ids/ids-under-way.js';
import { LayoutsController } from './layouts/layouts.controller.js';
import { MetricsController, ServiceMetrics } from './metrics/metrics.controller.js';
import { NUMBER_CODES, NUMBERS } from './numbers/number-codes.js';
import { NumbersController } from './numbers/numbers.controller.js';
import { SERVICE_CONFIG, type ServiceConfig } from './service-config.js';
import { LeaseTimeline, StatusController } from './status/status.controller.js';
import { WorkersController } from './workers/workers.controller.js';
import { snowflakeOptions, WorkersService } from './workers/workers.service.js';

@Module({})
export class ServiceModule {
  static forConfig(config: ServiceConfig): DynamicModule {
    return {
      module: ServiceModule,
      imports: [
        TypeOrmModule.forRootAsync({
          // openDatabase does the retrying.
          useFactory: () => ({ ...dataSourceOptions(config.database), retryAttempts: 0, toRetry: () => false }),
          dataSourceFactory: (options) => openDatabase(options!),
        }),
        RaindropModule.forRoot(snowflakeOptions(config)),
        RaindropModule.forRoot({
          name: NUMBERS,
          idMode: 'numberSection',
          codes: NUMBER_CODES,
          sharded: { apps: [{ id: 1, name: 'service', description: 'What the service issues for the public' }] },
        }),
        // Probes ask every few seconds: what is wrong is logged by who notices it, a planned end is no error.
        TerminusModule.forRoot({ logger: false }),
      ],
      controllers: [
        ...[DecodeIdsController, LayoutsController, StatusController, WorkersController, NumbersController],
        ...[HealthController, MetricsController],
      ],
      providers: [
        { provide: SERVICE_CONFIG, useValue: config },
        ...[ApiKeys, Drain, IdStreams, IdsUnderWay, StrangersNames],
        ...[LeaseTimeline, ServiceMetrics, WorkersService, RaindropHealthIndicator],
      ],
    };
  }
}
