import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { bigIntsToStrings } from './big-ints-to-strings.js';

/**
 * Answers with decimal texts in place of bigints, which `JSON.stringify` refuses (a 500 otherwise). For one controller
 * with `@UseInterceptors(BigIntInterceptor)`, or everywhere as an `APP_INTERCEPTOR`; only HTTP answers are touched, each
 * event of an `@Sse()` route among them. What is converted and what is left alone: see {@link bigIntsToStrings}.
 *
 * With `ClassSerializerInterceptor` list this one first: interceptors see the answer in reverse order.
 */
@Injectable()
export class BigIntInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const answer = next.handle() as Observable<unknown>;
    return context.getType() === 'http' ? answer.pipe(map(bigIntsToStrings)) : answer;
  }
}
