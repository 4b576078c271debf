import 'reflect-metadata';
import { Body, Controller, Get, Module, NotFoundException, Param, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { ParseIdPipe, RaindropModule } from '@raindrop/nestjs';
import { Column, Entity, Repository } from 'typeorm';

@Entity()
class Note {
  @GeneratedSnowflake() id!: string;
  @Column() text!: string;
}

@Controller('notes')
class NotesController {
  constructor(@InjectRepository(Note) private readonly notes: Repository<Note>) {}

  @Post()
  write(@Body('text') text: string): Promise<Note> {
    return this.notes.save(this.notes.create({ text }));
  }

  @Get(':id')
  async read(@Param('id', ParseIdPipe) id: string): Promise<Note> {
    const note = await this.notes.findOneBy({ id });
    if (note === null) throw new NotFoundException();
    return note;
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'notes.sqlite', entities: [Note], synchronize: true }),
    TypeOrmModule.forFeature([Note]),
    RaindropModule.forRoot(),
  ],
  controllers: [NotesController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: ['error', 'warn'] });
app.enableShutdownHooks(); // gives the worker id back
await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
console.log(`listening at ${await app.getUrl()}`);
