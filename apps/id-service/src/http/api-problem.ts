import { STATUS_CODES } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiSecurity, getSchemaPath } from '@nestjs/swagger';
import { Problem, PROBLEM_JSON } from '../problems/problem.js';

/** The answer of an error in the API's description, with an example. */
export function problemResponse(
  status: number,
  errorCode: string,
  detail: string,
  more: { readonly description?: string; readonly fields?: object } = {},
): { description: string; content: Record<string, { schema: { $ref: string }; example: object }> } {
  const title = STATUS_CODES[status]!;
  const retryable = status === 503 || status === 429;
  const example = { type: 'about:blank', title, status, detail, instance: EXAMPLE_INSTANCE, errorCode, retryable };
  const schema = { $ref: getSchemaPath(Problem) };
  return {
    description: more.description ?? detail,
    content: { [PROBLEM_JSON]: { schema, example: { ...example, ...more.fields } } },
  };
}

/** Documents an error that an operation answers with, and shows it. */
export function ApiProblem(...problem: Parameters<typeof problemResponse>): MethodDecorator & ClassDecorator {
  return documented({ [problem[0]]: problemResponse(...problem) });
}

function documented(responses: Readonly<Record<number, object>>): MethodDecorator & ClassDecorator {
  const each = Object.entries(responses).map(([status, response]) =>
    ApiResponse({ status: Number(status), ...response }),
  );
  return applyDecorators(ApiExtraModels(Problem), ...each);
}

/** The possible answers of every route under /v1. */
export function ApiCommonProblems(): ClassDecorator {
  return documented(COMMON_PROBLEMS);
}

/** For routes with a body. */
export function ApiBodyProblems(): MethodDecorator {
  return applyDecorators(
    ApiProblem(413, 'PAYLOAD_TOO_LARGE', 'Request body is too large'),
    ApiProblem(415, 'UNSUPPORTED_MEDIA_TYPE', 'Unsupported Media Type'),
  );
}

/** For routes that change something, or show data that not every client may see. */
export function ApiKeyProblem(): MethodDecorator {
  return applyDecorators(ApiOptionalKey(), documented(KEY_PROBLEMS));
}

/** For routes with an optional key. */
export function ApiOptionalKey(): MethodDecorator {
  return applyDecorators(ApiSecurity({}), ApiSecurity('bearer'), ApiSecurity('key'));
}

/** {@link ApiOptionalKey} as it stands in the description. */
export const OPTIONAL_KEY: Record<string, string[]>[] = [{}, { bearer: [] }, { key: [] }];

const EXAMPLE_INSTANCE = 'urn:uuid:1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed';

export const KEY_NOT_ALLOWED = 'This API key does not permit this.';

export const KEY_REQUIRED = 'An API key is required: Authorization: Bearer <key>, or X-API-Key.';

export const COMMON_PROBLEMS = {
  429: problemResponse(429, 'RATE_LIMITED', 'More than 600 requests a minute. Try again in 12 s.', {
    description: 'With RATE_LIMIT; or too many IDs, streams or new names. See Retry-After.',
  }),
  500: problemResponse(500, 'INTERNAL_SERVER_ERROR', 'An unexpected error occurred. The server log has details.'),
};

export const KEY_PROBLEMS = {
  401: problemResponse(401, 'API_KEY_REQUIRED', KEY_REQUIRED, {
    description: 'With API_KEYS, unless API_KEYS_FOR=workers.',
  }),
  403: problemResponse(403, 'API_KEY_NOT_ALLOWED', KEY_NOT_ALLOWED, {
    description: 'With API_KEYS, unless API_KEYS_FOR=workers: the key is one of WORKERS_API_KEYS.',
  }),
};
