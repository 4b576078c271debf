import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { RaindropModule } from '@raindrop/nestjs';
import { type Database, databaseProvider, FILE, InjectDatabase } from './database.js';
import { OrdersController } from './orders.controller.js';

@Module({
  imports: [RaindropModule.forRoot({ dbConfig: `sqlite:${FILE}` })],
  controllers: [OrdersController],
  providers: [databaseProvider],
})
export class AppModule implements OnApplicationShutdown {
  constructor(@InjectDatabase() private readonly database: Database) {}

  async onApplicationShutdown(): Promise<void> {
    await this.database.$disconnect();
  }
}
