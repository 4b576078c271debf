import type { FastifyAdapter } from '@nestjs/platform-fastify';

/** Everything but an order fits easily. */
export const USUAL_BODY_BYTES = 4_096;

/** Lets orders, which may have a hundred items, be longer than other bodies. Routes are meant that are added later. */
export function limitBodies(adapter: FastifyAdapter, orderBytes: number): void {
  adapter.getInstance().addHook('onRoute', (route) => {
    if (route.url === '/v1/orders') route.bodyLimit = orderBytes;
  });
}
