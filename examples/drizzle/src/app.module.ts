import { Module, StandardSchemaSerializerInterceptor, StandardSchemaValidationPipe } from '@nestjs/common';
import { APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { RaindropModule } from '@raindrop/nestjs';
import { databaseProvider, FILE } from './database.js';
import { OrdersController } from './orders.controller.js';

@Module({
  imports: [RaindropModule.forRoot({ dbConfig: `sqlite:${FILE}` })],
  controllers: [OrdersController],
  providers: [
    databaseProvider,
    { provide: APP_PIPE, useClass: StandardSchemaValidationPipe },
    { provide: APP_INTERCEPTOR, useClass: StandardSchemaSerializerInterceptor },
  ],
})
export class AppModule {}
