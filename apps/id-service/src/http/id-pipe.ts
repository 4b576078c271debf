import { ParseIdPipe } from '@raindrop/nestjs';
import { ProblemException } from '../problems/problem.exception.js';

/** Reads an ID from the path, as decimal text; its 400 is one of ours. */
export function idPipe(): ParseIdPipe {
  return new ParseIdPipe({
    exceptionFactory: (detail) => new ProblemException(400, { errorCode: 'INVALID_ID', detail }),
  });
}
