/* The application of a user, run by check.mjs in every runtime: outside the workspace, from the tarballs. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  // Without names Nest listens for signals that Deno does not allow.
  app.enableShutdownHooks(['SIGINT', 'SIGTERM']);
  await app.listen(0, '127.0.0.1');
  console.log(`listening at ${await app.getUrl()}`);
}

void main();
