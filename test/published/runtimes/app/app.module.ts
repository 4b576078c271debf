import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import pg from 'pg';
import { IdsController } from './ids.controller.js';
import { Order } from './order.js';

const url = process.env['DATABASE_URL'];
const SQLITE = { type: 'better-sqlite3', database: 'app.sqlite' } as const;

@Module({
  imports: [
    TypeOrmModule.forRoot({
      // In a bundle TypeORM finds no driver: it has to be given.
      ...(url === undefined ? SQLITE : { type: 'postgres', url, driver: pg }),
      entities: [Order],
      synchronize: true,
    }),
    RaindropModule.forRoot({
      startTimeStamp: '2024-01-01',
      timeStampLength: 33,
      workIdLength: 10,
      endBitsLength: 1,
      // One worker id only: the next start finds none unless this one gave it back.
      serviceMinWorkId: 7,
      serviceMaxWorkId: 7,
    }),
  ],
  controllers: [IdsController],
})
export class AppModule {}
