import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { ServiceConfig } from '../service-config.js';
import { ProblemException } from '../problems/problem.exception.js';
import { LOOPBACK } from './loopback.js';
import type { ProblemFilter } from './problem.filter.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Probes and Prometheus come with the address of a pod. */
const FOR_WATCHERS = /^\/(health|metrics)(\/|$)/;

/**
 * Keeps pages of other sites from using a service that their reader can reach and they cannot: requests that change
 * something are refused when a browser sends them for another site; where it is known under which names the service is
 * reached, on a loopback address or with `ALLOWED_HOSTS`, all are under any other, for a name of the attacker's may lead
 * here (DNS rebinding).
 */
export function refuseForeignPages(
  app: NestFastifyApplication,
  { host, allowedHosts }: Pick<ServiceConfig, 'host' | 'allowedHosts'>,
  problems: ProblemFilter,
): void {
  const isLoopback = LOOPBACK.test(host);
  const knowsItsNames = isLoopback || allowedHosts.length > 0;
  const isKnown = (name: string): boolean => allowedHosts.includes(name) || (isLoopback && LOOPBACK.test(name));
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, reply, done) => {
    const { method, headers, routeOptions } = request;
    const route = routeOptions.url ?? '';
    if (FOR_WATCHERS.test(route)) return done();
    if (knowsItsNames && headers.host !== undefined && !isKnown(nameIn(headers.host))) {
      // Also for the page's files, which are none of Nest's routes.
      return problems.answer(unknownHost(), request, reply);
    }
    if (SAFE_METHODS.has(method)) return done();
    const { 'sec-fetch-site': site, origin } = headers;
    const isOwn = site === undefined ? isOriginOf(origin, headers.host, isKnown) : OWN_SITES.has(String(site));
    done(isOwn ? undefined : foreignPage());
  });
}

/** What a browser says of a request that a page of the same origin makes, and of one that nobody but its user does. */
const OWN_SITES = new Set(['same-origin', 'none']);

/** Browsers that say no site name the origin at least; who names none is no browser. */
function isOriginOf(origin: string | undefined, host = '', isKnown: (name: string) => boolean): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin).host;
  return from !== '' && (from === host.toLowerCase() || (isKnown(nameIn(from)) && !LOOPBACK.test(nameIn(from))));
}

/** Without the port, in lower case. */
function nameIn(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}

function unknownHost(): ProblemException {
  const detail = 'The service is not known under this Host: name it in ALLOWED_HOSTS.';
  return new ProblemException(421, { errorCode: 'HOST_NOT_ALLOWED', detail });
}

function foreignPage(): ProblemException {
  const detail = 'Pages of other sites may not do that (Sec-Fetch-Site, Origin).';
  return new ProblemException(403, { errorCode: 'CROSS_SITE', detail });
}
