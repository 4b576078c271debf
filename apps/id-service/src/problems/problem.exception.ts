import { HttpException } from '@nestjs/common';

/** What is told of an error, beside its status. */
export interface ProblemTold {
  readonly errorCode: string;
  readonly detail: string;
  readonly retryable?: boolean;
  readonly [field: string]: unknown;
}

/** An error of the service's own; the filter makes a problem of it. The cause is what it retells, if anything. */
export class ProblemException extends HttpException {
  constructor(
    status: number,
    readonly told: ProblemTold,
    cause?: Error,
  ) {
    super(told.detail, status, { cause });
  }
}
