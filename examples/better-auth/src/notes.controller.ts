import {
  BadRequestException,
  Body,
  Controller,
  Get,
  Inject,
  NotFoundException,
  Param,
  Post,
  Req,
  UnauthorizedException,
} from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';
import type { Auth } from 'better-auth';
import { and, eq } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import { headersOf } from './auth.controller.js';
import { AUTH } from './auth.js';
import { DATABASE, type Database } from './database.js';
import { note } from './schema.js';

type Note = typeof note.$inferSelect;

/** The notes of the user who has signed in. */
@Controller('notes')
export class NotesController {
  constructor(
    @Inject(AUTH) private readonly auth: Auth,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @Post()
  async write(@Req() request: FastifyRequest, @Body('title') title: unknown): Promise<Note> {
    const userId = await this.userOf(request);
    if (typeof title !== 'string') throw new BadRequestException('title must be a text');
    return this.database.insert(note).values({ userId, title }).returning().get();
  }

  @Get(':id')
  async read(@Req() request: FastifyRequest, @Param('id', ParseIdPipe) id: string): Promise<Note> {
    const userId = await this.userOf(request);
    const found = this.database
      .select()
      .from(note)
      .where(and(eq(note.id, id), eq(note.userId, userId)))
      .get();
    if (found === undefined) throw new NotFoundException();
    return found;
  }

  private async userOf(request: FastifyRequest): Promise<string> {
    const session = await this.auth.api.getSession({ headers: headersOf(request) });
    if (session === null) throw new UnauthorizedException();
    return session.user.id;
  }
}
