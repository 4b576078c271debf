import { Module } from '@nestjs/common';
import { RaindropModule } from '@raindrop/nestjs';
import { IdsController } from './ids.controller.js';

@Module({
  imports: [
    RaindropModule.forRoot({
      dbConfig: process.env['DATABASE_URL']!,
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
