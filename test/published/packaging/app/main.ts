/* The app of a user, compiled and run by check-app.mjs in every combination: outside the workspace, from the tarballs. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  // Nest closes, then sends the signal to itself once more.
  app.enableShutdownHooks(['SIGTERM']);
  // Closes without ending the process: it ends when nothing is left to wait for.
  process.once('SIGINT', () => void app.close());
  await app.listen(0, '127.0.0.1');
  console.log(`listening at ${await app.getUrl()}`);
}

void main();
