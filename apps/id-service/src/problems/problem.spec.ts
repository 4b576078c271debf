import { BadRequestException, HttpException, NotFoundException } from '@nestjs/common';
import {
  ClosedError,
  InvalidBatchError,
  InvalidCodeError,
  InvalidIdError,
  LeaseLostError,
  NotReadyError,
  SequenceExhaustedError,
  StoreUnavailableError,
  UnknownAppError,
  WaitTimeoutError,
} from '@raindrop/nestjs';
import { QueryFailedError } from 'typeorm';
import { ProblemException } from './problem.js';
import { problemOf } from './problem.js';

const driver = new StoreUnavailableError('renew', new Error('Access denied for user root'));
const away = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:3306'), { code: 'ECONNREFUSED' });
const full = new QueryFailedError('COMMIT', [], Object.assign(new Error('x'), { code: 'SQLITE_FULL' }));

describe('problemOf', () => {
  it.each<[Error, number, string, string, boolean]>([
    [new InvalidIdError('decimal', 'x', 'digits'), 400, 'Bad Request', 'INVALID_ID', false],
    [new InvalidBatchError(0, 100), 400, 'Bad Request', 'INVALID_BATCH', false],
    [new InvalidCodeError(''), 400, 'Bad Request', 'INVALID_CODE', false],
    [new UnknownAppError(7), 404, 'Not Found', 'UNKNOWN_APP', false],
    [new NotReadyError('starting'), 503, 'Service Unavailable', 'NOT_READY', true],
    [new LeaseLostError(3, 'Access denied for user root'), 503, 'Service Unavailable', 'LEASE_LOST', true],
    [driver, 503, 'Service Unavailable', 'STORE_UNAVAILABLE', true],
    [new WaitTimeoutError(5_000, driver), 503, 'Service Unavailable', 'WAIT_TIMEOUT', true],
    [new ClosedError(), 500, 'Internal Server Error', 'CLOSED', false],
    [away, 503, 'Service Unavailable', 'DATABASE_UNAVAILABLE', true],
    [full, 503, 'Service Unavailable', 'DATABASE_UNAVAILABLE', true],
    [new NotFoundException('Cannot GET /x'), 404, 'Not Found', 'NOT_FOUND', false],
    [new BadRequestException('Body is not valid JSON'), 400, 'Bad Request', 'BAD_REQUEST', false],
    [new HttpException('Body is too large', 413), 413, 'Payload Too Large', 'PAYLOAD_TOO_LARGE', false],
    [
      new HttpException('Access denied for user root', 500),
      500,
      'Internal Server Error',
      'INTERNAL_SERVER_ERROR',
      false,
    ],
    [new TypeError('Access denied of undefined'), 500, 'Internal Server Error', 'INTERNAL_SERVER_ERROR', false],
  ])('makes of %s a problem with status %d', (error, status, title, errorCode, retryable) => {
    const problem = problemOf(error);
    expect(problem).toMatchObject({ type: 'about:blank', status, title, errorCode, retryable });
    expect(problem.detail === error.message).toBe(status < 500);
    expect(JSON.stringify(problem)).not.toMatch(/Access denied|10\.0\.0\.1/);
  });

  it('copes with what is no error at all', () => {
    for (const thrown of [undefined, null, 'text', 5, {}]) {
      expect(problemOf(thrown)).toMatchObject({ status: 500, errorCode: 'INTERNAL_SERVER_ERROR' });
    }
  });

  it("tells the error's own numbers, and none of its texts", () => {
    expect(problemOf(new LeaseLostError(3, 'a reason'))).toMatchObject({ workerId: 3 });
    expect(problemOf(new LeaseLostError(3, 'a reason'))).not.toHaveProperty('reason');
    expect(problemOf(new SequenceExhaustedError(17, new Date(0)))).toMatchObject({ tick: 17 });
  });

  it('tells what an error of the service says, whatever fields it has', () => {
    const told = { errorCode: 'TEAPOT', detail: 'short and stout', spout: true };
    expect(problemOf(new ProblemException(418, told))).toEqual({
      type: 'about:blank',
      title: "I'm a Teapot",
      status: 418,
      retryable: false,
      ...told,
    });
  });

  it('links to the documentation when there is one', () => {
    const typeOf = (error: Error): string => problemOf(error, 'https://docs.example/errors.md').type;
    expect(typeOf(new NotReadyError('starting'))).toBe('https://docs.example/errors.md#not_ready');
    const told = { errorCode: 'CLOSED', detail: 'retold' };
    expect(typeOf(new ProblemException(400, told, new ClosedError()))).toBe('https://docs.example/errors.md#closed');
    // Not described there: nothing but the status.
    expect(typeOf(new ProblemException(404, { errorCode: 'WORKERS_NOT_SHOWN', detail: 'none' }))).toBe('about:blank');
    expect(typeOf(new NotFoundException())).toBe('about:blank');
  });
});
