import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // Gives the worker id back when the process is stopped.
  const document = new DocumentBuilder().setTitle('Shop').setVersion('1.0').build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, document));
  try {
    await app.listen(process.env.PORT ?? 3001, '127.0.0.1');
    Logger.log(`Swagger: ${await app.getUrl()}/docs`, 'Shop');
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).syscall !== 'listen') throw error;
    console.error(`${(error as Error).message}: set PORT to a free port`);
    process.exitCode = 1;
  }
}

void bootstrap();
