import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ProblemException } from '../problems/problem.js';
import { SERVICE_CONFIG, type ServiceConfig } from '../service-config.js';
import { KEY_NOT_ALLOWED, KEY_REQUIRED } from './api-problem.js';

/** The names under which a host reaches itself, and no other host does. */
export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;

type KeyConfig = Pick<ServiceConfig, 'apiKeys' | 'apiKeysFor' | 'workersApiKeys' | 'host' | 'trustProxy'>;

/**
 * The headers of proxies. A proxy that adds none is not detected: docs/service.md says to configure keys behind any.
 */
const FORWARDED = [
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip', 'via'],
  ...['x-original-forwarded-for', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'fly-client-ip'],
  'x-envoy-external-address',
];

/**
 * The keys that the service was given, for two scopes: calls that change something, and the workers with their hosts.
 * How long a look takes tells nothing of them: hashes are compared, all of them. @fastify/bearer-auth has one scope and
 * one header.
 */
@Injectable()
export class ApiKeys {
  private readonly forCalls: readonly Buffer[];
  private readonly forWorkers: readonly Buffer[];
  /** Whether every call that changes something needs a key. */
  readonly areForAll: boolean;
  /** Whether only programs of this host can ask, if no proxy of this host asks for others. */
  private readonly isLocal: boolean;

  constructor(@Inject(SERVICE_CONFIG) config: KeyConfig) {
    this.forCalls = config.apiKeys.map(hashOf);
    this.forWorkers = config.workersApiKeys.length > 0 ? config.workersApiKeys.map(hashOf) : this.forCalls;
    this.areForAll = config.apiKeysFor === 'all';
    this.isLocal = LOOPBACK.test(config.host) && config.trustProxy === 0;
  }

  /** Whether there is a key that shows the workers. */
  get areConfigured(): boolean {
    return this.forWorkers.length > 0;
  }

  /** Whether the workers are shown without a key: on a loopback address, where there are none, to who comes through no proxy. */
  areNotNeededBy(headers: IncomingHttpHeaders): boolean {
    const hasKeys = this.areConfigured || this.forCalls.length > 0;
    return this.isLocal && !hasKeys && FORWARDED.every((name) => headers[name] === undefined);
  }

  /** Whether a key is one for calls. */
  accepts(key: string | undefined): boolean {
    return key !== undefined && isAmong(this.forCalls, key);
  }

  /** @throws ProblemException 401 without a key for calls, 403 with one that is for the workers only */
  demand(headers: IncomingHttpHeaders): void {
    this.demandOf(this.forCalls, keyIn(headers));
  }

  /** @throws ProblemException 401 without a key for the workers, 403 with one that is for calls only */
  demandForWorkers(headers: IncomingHttpHeaders): void {
    this.demandOf(this.forWorkers, keyIn(headers));
  }

  /**
   * Whether the request may see the workers; without a key, or with one for calls only, it may not.
   * @throws ProblemException 401 for a wrong key, which is better said than ignored
   */
  areShownBy(headers: IncomingHttpHeaders): boolean {
    const key = keyIn(headers);
    if (this.areNotNeededBy(headers)) return true;
    if (!this.areConfigured || key === undefined) return false;
    const [isForWorkers, isForCalls] = [isAmong(this.forWorkers, key), isAmong(this.forCalls, key)];
    if (!isForWorkers && !isForCalls) throw keyRequired();
    return isForWorkers;
  }

  /** As {@link areShownBy}, without an error for a wrong key. */
  mayShow(headers: IncomingHttpHeaders): boolean {
    return this.areNotNeededBy(headers) || isAmong(this.forWorkers, keyIn(headers) ?? '');
  }

  private demandOf(hashes: readonly Buffer[], key = ''): void {
    const [isRight, isForCalls, isForWorkers] = [hashes, this.forCalls, this.forWorkers].map((each) =>
      isAmong(each, key),
    );
    if (isRight) return;
    if (!isForCalls && !isForWorkers) throw keyRequired();
    throw new ProblemException(403, { errorCode: 'API_KEY_NOT_ALLOWED', detail: KEY_NOT_ALLOWED });
  }
}

function keyRequired(): ProblemException {
  return new ProblemException(401, { errorCode: 'API_KEY_REQUIRED', detail: KEY_REQUIRED });
}

function isAmong(hashes: readonly Buffer[], key: string): boolean {
  const given = hashOf(key);
  return hashes.reduce((found, hash) => timingSafeEqual(hash, given) || found, false);
}

/** The key that a request shows, right or wrong. */
export function keyIn(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const key = headers['x-api-key'];
  return bearer ?? (typeof key === 'string' ? key : undefined);
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** POST, but it only calculates. */
const CHANGES_NOTHING = new Set(['/v1/layouts/plan', '/v1/layouts/advice']);

/**
 * With `API_KEYS`, unless `API_KEYS_FOR=workers`, asks every call that changes something for its key. A hook and no guard, because some answers
 * never reach Nest's routes; and none at all otherwise, because it would cost every request a little.
 */
export function demandApiKeys(app: NestFastifyApplication): void {
  const keys = app.get(ApiKeys);
  if (!keys.areForAll) return;
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url ?? '';
    const changes = request.method === 'POST' && route.startsWith('/v1/') && !CHANGES_NOTHING.has(route);
    if (!changes) return done();
    try {
      keys.demand(request.headers);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}
