import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { SERVICE_CONFIG } from '../service-config.token.js';
import type { ServiceConfig } from '../service-config.js';
import { KEY_NOT_ALLOWED, KEY_REQUIRED } from './api-problem.js';
import { LOOPBACK } from './loopback.js';
import { ProblemException } from '../problems/problem.exception.js';

type KeyConfig = Pick<ServiceConfig, 'apiKeys' | 'apiKeysFor' | 'workersApiKeys' | 'host' | 'trustProxy'>;

/** What proxies add. One that adds nothing is not seen: docs/service.md says to configure keys behind any. */
const FORWARDED = [
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip', 'via'],
  ...[
    'x-original-forwarded-for',
    'cf-connecting-ip',
    'true-client-ip',
    'x-client-ip',
    'fly-client-ip',
    'x-envoy-external-address',
  ],
];

/**
 * The keys that the service was given, for two scopes: calls that change something, and the workers with their hosts.
 * How long a look takes tells nothing of them: hashes are compared, all of them.
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
    this.demandKey(keyIn(headers));
  }

  /** As {@link demand}, of a key that came by another way. */
  demandKey(key: string | undefined): void {
    this.demandOf(this.forCalls, key);
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
    throw isForCalls || isForWorkers ? keyNotAllowed() : keyRequired();
  }
}

function keyRequired(): ProblemException {
  return new ProblemException(401, { errorCode: 'API_KEY_REQUIRED', detail: KEY_REQUIRED });
}

function keyNotAllowed(): ProblemException {
  return new ProblemException(403, { errorCode: 'API_KEY_NOT_ALLOWED', detail: KEY_NOT_ALLOWED });
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
