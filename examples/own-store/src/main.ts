import 'reflect-metadata';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { fileWorkers } from './plain-file-store.js';

@Controller('ids')
class IdsController {
  constructor(private readonly ids: IdService) {}

  @Post()
  issue(): { id: string } {
    return { id: this.ids.nextString() };
  }
}

@Module({
  imports: [RaindropModule.forRoot({ workerIdAssigner: fileWorkers('workers') })],
  controllers: [IdsController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: ['error', 'warn'] });
app.enableShutdownHooks(); // gives the worker id back
try {
  await app.listen(process.env.PORT ?? 3005, '127.0.0.1');
  console.log(`listening at ${await app.getUrl()}`);
} catch (error) {
  await app.close();
  if ((error as NodeJS.ErrnoException).syscall !== 'listen') throw error;
  console.error(`${(error as Error).message}: set PORT to a free port`);
  process.exitCode = 1;
}
