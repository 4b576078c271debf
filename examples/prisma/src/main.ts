import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: ['error', 'warn'] });
app.enableShutdownHooks(); // gives the worker id back
await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
console.log(`listening at ${await app.getUrl()}`);
