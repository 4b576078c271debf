import type { FastifyAdapter } from '@nestjs/platform-fastify';

/** Remembers the routes from now on. @returns which methods those of an address know, for a 405 and its `Allow` */
export function knownMethods(adapter: FastifyAdapter): (url: string) => readonly string[] {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  adapter.getInstance().addHook('onRoute', ({ url, method }) => {
    routes.push({ path: pathsOf(url), methods: [method].flat() });
  });
  return (url) => {
    const path = url.replace(/[?#].*$/s, '');
    const methods = routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  };
}

/** Of a route such as `/v1/ids/:id` the addresses that it takes. */
function pathsOf(route: string): RegExp {
  const segments = route.replace(/\/$/, '').split('/');
  const taken = segments.map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${taken.join('/')}/?$`);
}
