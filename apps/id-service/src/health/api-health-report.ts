import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { HealthReport } from './health-report.js';

/** Documents terminus's report on these parts. */
export function ApiHealthReport(...parts: readonly string[]): MethodDecorator {
  const up = Object.fromEntries(parts.map((part) => [part, { status: 'up' }]));
  const good = { status: 'ok', info: up, error: {}, details: up };
  const documented = [reported(200, 'All is well.', good)];
  const [first, ...rest] = parts;
  if (first !== undefined) {
    const others = Object.fromEntries(rest.map((part) => [part, { status: 'up' }]));
    const down = { [first]: { status: 'down' } };
    const bad = { status: 'error', info: others, error: down, details: { ...down, ...others } };
    documented.push(reported(503, 'Something is not; `error` says what.', bad));
  }
  return applyDecorators(...documented);
}

function reported(status: number, description: string, example: object): MethodDecorator {
  const schema = { $ref: getSchemaPath(HealthReport) };
  return applyDecorators(
    ApiExtraModels(HealthReport),
    ApiResponse({ status, description, content: { 'application/json': { schema, example } } }),
  );
}
