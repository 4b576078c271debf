import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { lastValueFrom, of } from 'rxjs';
import { BigIntInterceptor } from './big-int.interceptor.js';

it.each([
  ['http', ['1']],
  ['rpc', [1n]],
  ['graphql', [1n]],
])('BigIntInterceptor answers %s with %p', async (type, expected) => {
  const context = new ExecutionContextHost([]);
  context.setType(type);
  const answer = new BigIntInterceptor().intercept(context, { handle: () => of([1n]) });
  expect(await lastValueFrom(answer)).toEqual(expected);
});
