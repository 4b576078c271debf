import { HttpException } from '@nestjs/common';

/** What is told of an error, beside its status. */
export interface ProblemTold {
  readonly errorCode: string;
  readonly detail: string;
  readonly retryable?: boolean;
  readonly [field: string]: unknown;
}

/** An error of the service's own; the filter makes a problem of it. */
export class ProblemException extends HttpException {
  constructor(
    status: number,
    readonly told: ProblemTold,
  ) {
    super(told.detail, status);
  }
}
