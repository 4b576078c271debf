import { Catch, Logger, type RpcExceptionFilter } from '@nestjs/common';
import { throwError, type Observable } from 'rxjs';
import { problemOf } from '../http/problem-of.js';

/** The same problem details as over HTTP, as the error of a message. */
@Catch()
export class TcpProblemFilter implements RpcExceptionFilter<unknown> {
  private readonly logger = new Logger('Demo');

  catch(error: unknown): Observable<never> {
    const problem = problemOf(error);
    if (problem.status >= 500) {
      this.logger.error(`${problem.errorCode} over TCP: ${error instanceof Error ? error.message : String(error)}`);
    }
    return throwError(() => problem);
  }
}
