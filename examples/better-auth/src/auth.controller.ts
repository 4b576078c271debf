import { All, Controller, Inject, Req, Res } from '@nestjs/common';
import type { Auth } from 'better-auth';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AUTH } from './auth.js';

/** Hands the requests below /api/auth to better-auth, which speaks the web's `Request` and `Response`. */
@Controller('api/auth')
export class AuthController {
  constructor(@Inject(AUTH) private readonly auth: Auth) {}

  @All('*')
  async handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { method, body } = request;
    const url = new URL(request.url, `${request.protocol}://${request.host}`);
    const init = { method, headers: headersOf(request), ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await this.auth.handler(new Request(url, init));
    reply.status(response.status);
    response.headers.forEach((value, name) => reply.header(name, value));
    reply.send(response.body === null ? null : await response.text());
  }
}

export function headersOf({ headers }: FastifyRequest): Headers {
  const found = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // The body is written anew.
    if (value !== undefined && name !== 'content-length') found.set(name, String(value));
  }
  return found;
}
