import { Module } from '@nestjs/common';
import { RaindropModule } from '@raindrop/nestjs';
import { AuthController } from './auth.controller.js';
import { authProvider } from './auth.js';
import { databaseProvider, FILE } from './database.js';
import { NotesController } from './notes.controller.js';

@Module({
  imports: [RaindropModule.forRoot({ dbConfig: `sqlite:${FILE}` })],
  controllers: [AuthController, NotesController],
  providers: [authProvider, databaseProvider],
})
export class AppModule {}
