import { Module } from '@nestjs/common';
import { RaindropModule } from '@raindrop/nestjs';
import { databaseProvider, FILE } from './database.js';
import { OrdersController } from './orders.controller.js';

@Module({
  imports: [RaindropModule.forRoot({ dbConfig: `sqlite:${FILE}` })],
  controllers: [OrdersController],
  providers: [databaseProvider],
})
export class AppModule {}
