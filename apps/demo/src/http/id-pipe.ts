import { BadRequestException } from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';

/** Reads an ID from the path, as decimal text; its 400 is one of ours. */
export function idPipe(): ParseIdPipe {
  return new ParseIdPipe({
    exceptionFactory: (message) => new BadRequestException({ statusCode: 400, errorCode: 'INVALID_ID', message }),
  });
}
