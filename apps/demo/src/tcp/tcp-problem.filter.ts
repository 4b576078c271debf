import { Catch, Logger, type RpcExceptionFilter } from '@nestjs/common';
import { throwError, type Observable } from 'rxjs';
import { problemOf } from '../http/problem-of.js';
import { ProblemException } from '../http/problem.exception.js';

/** The same problem details as over HTTP, as the error of a message. */
@Catch()
export class TcpProblemFilter implements RpcExceptionFilter<unknown> {
  private readonly logger = new Logger('Demo');

  catch(error: unknown): Observable<never> {
    const problem = problemOf(error);
    if (problem.status >= 500 && !(error instanceof ProblemException)) {
      this.logger.error(`${problem.errorCode} over TCP: ${error instanceof Error ? error.message : String(error)}`);
    }
    // What `Retry-After` says over HTTP.
    const told = problem.status === 503 ? { retryAfterSeconds: 1, ...problem } : problem;
    return throwError(() => told);
  }
}
