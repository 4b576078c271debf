import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: ['error', 'warn'] });
app.enableShutdownHooks(); // gives the worker id back
try {
  await app.listen(process.env.PORT ?? 3009, '127.0.0.1');
  console.log(`listening at ${await app.getUrl()}`);
} catch (error) {
  await app.close();
  if ((error as NodeJS.ErrnoException).syscall !== 'listen') throw error;
  console.error(`${(error as Error).message}: set PORT to a free port`);
  process.exitCode = 1;
}
