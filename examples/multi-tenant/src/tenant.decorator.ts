import { BadRequestException, createParamDecorator, type ExecutionContext } from '@nestjs/common';

const TENANTS: readonly unknown[] = ['acme', 'globex'];

/**
 * Whose request it is. Here a header says so; in an application take it from the session or the token, never from what
 * anybody may write. Only known tenants pass: each becomes a code and a series of numbers that stay.
 */
export const Tenant = createParamDecorator((_, context: ExecutionContext): string => {
  const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
  const tenant = headers['x-tenant'];
  if (tenant === undefined || !TENANTS.includes(tenant)) throw new BadRequestException('x-tenant must name a tenant');
  return tenant;
});
