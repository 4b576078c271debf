import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';

/** An application without TypeORM: the worker id is leased over the driver itself. */
@Module({
  imports: [
    RaindropModule.forRoot({
      dbConfig: 'sqlite:bare.sqlite',
      startTimeStamp: '2026-01-01',
      timeStampLength: 33,
      workIdLength: 3,
      endBitsLength: 1,
    }),
  ],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  console.log(`issued ${app.get(IdService).nextString()}`);
  await app.close();
}

void main();
