import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { DEMO_CONFIG } from '../demo-config.token.js';
import type { DemoConfig } from '../demo-config.js';
import { KEY_REQUIRED } from './api-problem.js';
import { ProblemException } from './problem.exception.js';

/** The keys that the service was given. How long a look takes tells nothing of them: hashes are compared, all of them. */
@Injectable()
export class ApiKeys {
  private readonly hashes: readonly Buffer[];
  /** Whether every call that changes something needs a key. */
  readonly areForAll: boolean;

  constructor(@Inject(DEMO_CONFIG) { apiKeys, apiKeysFor }: Pick<DemoConfig, 'apiKeys' | 'apiKeysFor'>) {
    this.hashes = apiKeys.map(hashOf);
    this.areForAll = apiKeysFor === 'all';
  }

  get areConfigured(): boolean {
    return this.hashes.length > 0;
  }

  accepts(key: string): boolean {
    const given = hashOf(key);
    return this.hashes.reduce((found, hash) => timingSafeEqual(hash, given) || found, false);
  }

  /** @throws ProblemException 401 without a key that is accepted */
  demand(headers: IncomingHttpHeaders): void {
    if (!this.accepts(keyIn(headers) ?? '')) throw keyRequired();
  }

  /**
   * Whether the request may see more than others; without a key it may not.
   * @throws ProblemException 401 for a wrong key, which is better said than ignored
   */
  areShownBy(headers: IncomingHttpHeaders): boolean {
    if (!this.areConfigured || keyIn(headers) === undefined) return false;
    this.demand(headers);
    return true;
  }
}

export function keyRequired(): ProblemException {
  return new ProblemException(401, { errorCode: 'API_KEY_REQUIRED', detail: KEY_REQUIRED });
}

function keyIn(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const key = headers['x-api-key'];
  return bearer ?? (typeof key === 'string' ? key : undefined);
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
