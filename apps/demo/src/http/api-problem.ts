import { STATUS_CODES } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { Problem, PROBLEM_JSON } from './problem.js';

/** Documents an error that an operation answers with, and shows it. */
export function ApiProblem(
  status: number,
  errorCode: string,
  detail: string,
  more: { readonly description?: string; readonly fields?: object } = {},
): MethodDecorator & ClassDecorator {
  const title = STATUS_CODES[status]!;
  const retryable = status === 503 || status === 429;
  const example = { type: 'about:blank', title, status, detail, errorCode, retryable, ...more.fields };
  return applyDecorators(
    ApiExtraModels(Problem),
    ApiResponse({
      status,
      description: more.description ?? detail,
      content: { [PROBLEM_JSON]: { schema: { $ref: getSchemaPath(Problem) }, example } },
    }),
  );
}

/** What every route under /v1 may answer. */
export function ApiCommonProblems(): ClassDecorator {
  return applyDecorators(
    ApiProblem(429, 'RATE_LIMITED', 'More than 600 requests a minute. Try again in 12 s.', {
      description: 'With RATE_LIMIT only; see Retry-After.',
    }),
    ApiProblem(500, 'INTERNAL_SERVER_ERROR', 'Something is wrong here. The server log says what.'),
  );
}

/** Of routes that change something. */
export function ApiKeyProblem(): MethodDecorator {
  return ApiProblem(401, 'API_KEY_REQUIRED', KEY_REQUIRED, { description: 'With API_KEYS_FOR=all only.' });
}

export const KEY_REQUIRED = 'An API key is required: Authorization: Bearer <key>, or X-API-Key.';
