import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { InvalidBatchError, InvalidCodeError, InvalidIdError, RaindropError, UnknownAppError } from '@raindrop/core';
import type { ErrorBody } from './error-body.js';

const RETRY_AFTER_SECONDS = '1';

/**
 * Raindrop's errors as HTTP: 400 and 404 for what the client can mend, 503 for what passes by itself, else 500.
 *
 * Messages of the last two go to the log only: they may quote the database driver.
 */
@Catch(RaindropError)
export class RaindropErrorFilter implements ExceptionFilter<RaindropError> {
  private readonly logger = new Logger('Demo');

  constructor(private readonly adapter: AbstractHttpAdapter) {}

  catch(error: RaindropError, host: ArgumentsHost): void {
    const response: unknown = host.switchToHttp().getResponse();
    const body = bodyOf(error);
    if (body.statusCode >= 500) this.logger.error(`${error.errorCode}: ${error.message}`);
    if (body.statusCode === 503) this.adapter.setHeader(response, 'retry-after', RETRY_AFTER_SECONDS);
    this.adapter.reply(response, body, body.statusCode);
  }
}

/** @internal */
export function bodyOf(error: RaindropError): ErrorBody {
  const { errorCode, message } = error;
  if (error instanceof InvalidIdError || error instanceof InvalidBatchError || error instanceof InvalidCodeError) {
    return { statusCode: 400, errorCode, message };
  }
  if (error instanceof UnknownAppError) return { statusCode: 404, errorCode, message };
  if (error.retryable) {
    return { statusCode: 503, errorCode, message: 'No ID can be issued right now. Try again in a moment.' };
  }
  return { statusCode: 500, errorCode, message: 'Something is wrong here. The server log says what.' };
}
