import { Catch, Inject, Logger, type RpcExceptionFilter } from '@nestjs/common';
import { throwError, type Observable } from 'rxjs';
import { DEMO_CONFIG } from '../demo-config.token.js';
import type { DemoConfig } from '../demo-config.js';
import { LogRepeats } from '../problems/log-repeats.js';
import { occurrenceOf } from '../problems/problem-of.js';
import { ProblemException } from '../problems/problem.exception.js';

/** The same problem details as over HTTP, as the error of a message. */
@Catch()
export class TcpProblemFilter implements RpcExceptionFilter<unknown> {
  private readonly logger = new Logger('Demo');
  private readonly repeats = new LogRepeats();

  constructor(@Inject(DEMO_CONFIG) private readonly config: Pick<DemoConfig, 'docsUrl'>) {}

  catch(error: unknown): Observable<never> {
    const problem = occurrenceOf(error, this.config.docsUrl);
    if (problem.status >= 500 && !(error instanceof ProblemException)) {
      const what = `${problem.errorCode} over TCP`;
      const unsaid = problem.status === 503 ? this.repeats.admit(what) : 0;
      const more = unsaid === 0 ? '' : ` (${unsaid} more before)`;
      const reason = error instanceof Error ? error.message : String(error);
      if (unsaid !== undefined) this.logger.error(`${what}, ${problem.instance}${more}: ${reason}`);
    }
    // What `Retry-After` says over HTTP.
    const told = problem.status === 503 ? { retryAfterSeconds: 1, ...problem } : problem;
    return throwError(() => told);
  }
}
