import { ConfigurationError } from '@raindrop/nestjs';
import { readDatabaseUrl, type ServiceDatabase } from './database/database-url.js';
import { serviceLayout } from './service-layout.js';
import { EnvironmentReader } from './environment-reader.js';

/** Everything that can be configured, from environment variables only. `docs/service.md` has the table. */
export interface ServiceConfig {
  readonly host: string;
  readonly port: number;
  readonly database: ServiceDatabase;
  /** The worker ids of this process and its siblings. */
  readonly workers: { readonly min: number; readonly max: number };
  readonly leaseMs: number;
  readonly apiKeys: readonly string[];
  /** Keys that show the workers, and nothing else; without any, `apiKeys` do. */
  readonly workersApiKeys: readonly string[];
  /** What a key is asked for: the workers and who they are, or every call that changes something as well. */
  readonly apiKeysFor: 'workers' | 'all';
  /** Requests a minute and address; 0: any number. */
  readonly rateLimit: number;
  /** How many proxies in front are believed when they say whose request it is. */
  readonly trustProxy: number;
  /** Under which names the service is reached; without any, under any name unless it listens on a loopback address. */
  readonly allowedHosts: readonly string[];
  /** Codes that always have a place, and a series in the metrics. */
  readonly knownCodes: readonly string[];
  /** How long readiness says no, after SIGTERM, before the server closes. */
  readonly drainMs: number;
  readonly logFormat: 'text' | 'json';
  /** Where `docs/errors.md` can be read; problems link there. */
  readonly docsUrl: string | undefined;
}

const LEASE_MS = 60_000;

/** Long enough for a client to learn of it with its next request. */
const DRAIN_MS = 1_500;

const HOST_NAME = {
  pattern: /^([a-z\d_-]+(\.[a-z\d_-]+)*|\[[\da-f:.]+\])$/,
  legal: 'host names in lower case, without port',
};
const CODE = { pattern: /^.{1,128}$/, legal: 'codes of 1 to 128 characters' };

/**
 * Reads and checks the environment; an empty variable counts as not set.
 * @throws ConfigurationError naming every variable that is wrong
 */
export function readServiceConfig(environment: NodeJS.ProcessEnv): ServiceConfig {
  const reader = new EnvironmentReader(environment);
  const maxWorkerId = 2 ** serviceLayout.workIdLength - 1;
  const port = reader.integer('PORT', 3_000, [0, 65_535], 'where to listen; 0 takes any free port');
  const min = reader.integer('RAINDROP_MIN_WORKER_ID', 1, [0, maxWorkerId], 'the first worker id of this service');
  const max = reader.integer(
    'RAINDROP_MAX_WORKER_ID',
    Math.max(min, 64),
    [0, maxWorkerId],
    'the last worker id of this service',
  );
  if (min > max) {
    reader.problem('RAINDROP_MIN_WORKER_ID', min, `must not be greater than RAINDROP_MAX_WORKER_ID, ${max}`);
  }
  const config = {
    host: reader.text('HOST') ?? '127.0.0.1',
    port,
    workers: { min, max },
    leaseMs: reader.integer('RAINDROP_LEASE_MS', LEASE_MS, [4_000, 86_400_000], 'how long a lease lasts unrenewed, ms'),
    apiKeys: reader.secrets('API_KEYS'),
    workersApiKeys: reader.secrets('WORKERS_API_KEYS'),
    apiKeysFor: reader.oneOf('API_KEYS_FOR', ['workers', 'all'], 'workers'),
    rateLimit: reader.integer('RATE_LIMIT', 0, [0, 10_000_000], 'requests a minute and address; 0 for any number'),
    trustProxy: reader.integer('TRUST_PROXY', 0, [0, 10], 'how many proxies are in front'),
    allowedHosts: reader.list('ALLOWED_HOSTS', HOST_NAME),
    knownCodes: reader.list('KNOWN_CODES', CODE),
    drainMs: reader.integer('DRAIN_MS', DRAIN_MS, [0, 600_000], 'how long to serve on after SIGTERM, ms'),
    logFormat: reader.oneOf('LOG_FORMAT', ['text', 'json'], 'text'),
    docsUrl: reader.webAddress('DOCS_URL'),
  } as const;
  if (config.apiKeysFor === 'all' && config.apiKeys.length === 0 && !reader.refused('API_KEYS')) {
    reader.problem('API_KEYS', undefined, 'must name a key at least, because API_KEYS_FOR is all');
  }
  const database = readDatabaseUrl(reader.text('DATABASE_URL'));
  // The URL may hold a password: it is not shown.
  if (typeof database === 'string') reader.refuse('DATABASE_URL', 'a text', database);
  if (reader.problems.length > 0 || typeof database === 'string') throw new ConfigurationError(reader.problems);
  return { ...config, database };
}
