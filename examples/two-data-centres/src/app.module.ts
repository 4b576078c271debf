import { Module } from '@nestjs/common';
import { RaindropModule } from '@raindrop/nestjs';
import { readDataCentre } from './data-centres.js';
import { IdsController } from './ids.controller.js';

@Module({
  imports: [RaindropModule.forRoot(readDataCentre(process.env))],
  controllers: [IdsController],
})
export class AppModule {}
