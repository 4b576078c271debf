import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { ConfigurationError, showValue, type ConfigurationProblem } from '@raindrop/nestjs';
import { customCleanEnv, makeExactValidator, str, type CleanedEnv, type ExactValidator } from 'envalid';
import { DEFAULT_DATABASE, readDatabaseUrl, type ServiceDatabase } from './database/open-database.js';
import { readLayout, type ServiceLayout } from './service-layout.js';

/** The {@link ServiceConfig}, for those that are injected. */
export const SERVICE_CONFIG = Symbol('SERVICE_CONFIG');

/** Everything that can be configured, from environment variables only. `docs/service.md` has the table. */
export interface ServiceConfig {
  readonly host: string;
  readonly port: number;
  readonly database: ServiceDatabase;
  /** The layout of the IDs; undefined for the one that the worker table remembers. */
  readonly layout: ServiceLayout['options'] | undefined;
  /** The worker ids of this process and its siblings. */
  readonly workers: { readonly min: number; readonly max: number };
  readonly leaseMs: number;
  /** How many days it is kept which process held which worker id; 0: it is not. */
  readonly workerHistoryDays: number;
  readonly apiKeys: readonly string[];
  /** Keys that show the workers, and nothing else; without any, `apiKeys` do. */
  readonly workersApiKeys: readonly string[];
  /**
   * The calls that need a key: those that show workers, or also every call that changes something. The latter is the
   * default as soon as there are `apiKeys`.
   */
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

/** As many codes as metrics count apart. */
const LONGEST_LIST = 500;

/** Worker ids of a layout that is not known yet: those of the default one. */
const USUAL_MAX_WORKER_ID = 1_023;

/** Their values are shown nowhere; `NAME_FILE` names a file with the value instead. */
const SECRETS: readonly string[] = ['API_KEYS', 'WORKERS_API_KEYS', 'DATABASE_URL'];

const HOST_NAME = /^([a-z\d_-]+(\.[a-z\d_-]+)*|\[[\da-f:.]+\])$/;

/** Long enough not to be guessed, and nothing that a header cannot carry. */
const API_KEY = /^[\x21-\x2b\x2d-\x7e]{16,256}$/;
const KEYS = 'keys of 16 to 256 printable ASCII characters each, without spaces';

/**
 * Reads and checks the environment; an empty variable counts as not set.
 * @throws ConfigurationError naming every variable that is wrong
 */
export function readServiceConfig(environment: NodeJS.ProcessEnv): ServiceConfig {
  const problems: ConfigurationProblem[] = [];
  const { values, sources } = readValues(environment, problems);
  const refuse = (name: string, message: string): void => {
    const given = SECRETS.includes(name) && values[name] !== undefined ? 'a string' : showValue(values[name]);
    problems.push({ option: sources[name] ?? name, given, message });
  };
  const reporter = ({ errors }: { readonly errors: object }): void => {
    for (const [name, { message }] of Object.entries(errors as Record<string, Error>)) refuse(name, message);
  };
  // Without envalid's proxy, which would throw where a variable that was refused is read below.
  const clean = <Specs>(specs: Specs): Readonly<CleanedEnv<Specs>> =>
    customCleanEnv<Specs, CleanedEnv<Specs>>(values, specs, (env) => env, { reporter });
  const { LAYOUT: named } = clean({ LAYOUT: layout({ default: undefined }) });
  const workerId = (meaning: string): ExactValidator<number> =>
    integer(0, named?.maxWorkerId ?? USUAL_MAX_WORKER_ID, meaning);
  const env = clean({
    HOST: str({ default: '127.0.0.1' }),
    PORT: integer(0, 65_535, 'where to listen; 0 for any free port')({ default: 3_000 }),
    RAINDROP_MIN_WORKER_ID: workerId('the first worker id of this service')({ default: 1 }),
    RAINDROP_MAX_WORKER_ID: workerId('the last worker id of this service')({ default: undefined }),
    RAINDROP_LEASE_MS: integer(4_000, 86_400_000, 'how long a lease lasts unrenewed, ms')({ default: 60_000 }),
    WORKER_HISTORY_DAYS: integer(0, 3_650, 'how many days to keep which process held a worker id')({ default: 0 }),
    API_KEYS: list(API_KEY, KEYS)({ default: [] }),
    WORKERS_API_KEYS: list(API_KEY, KEYS)({ default: [] }),
    API_KEYS_FOR: oneOf('workers', 'all')({ default: undefined }),
    RATE_LIMIT: integer(0, 10_000_000, 'requests a minute and address; 0 for any number')({ default: 0 }),
    TRUST_PROXY: integer(0, 10, 'how many proxies are in front')({ default: 0 }),
    ALLOWED_HOSTS: list(HOST_NAME, 'host names in lower case, without port')({ default: [] }),
    KNOWN_CODES: list(/^.{1,128}$/, 'codes of 1 to 128 characters')({ default: [] }),
    // Long enough for a client to learn of it with its next request.
    DRAIN_MS: integer(0, 600_000, 'how long to serve on after SIGTERM, ms')({ default: 1_500 }),
    LOG_FORMAT: oneOf('text', 'json')({ default: 'text' }),
    DOCS_URL: webAddress({ default: undefined }),
    DATABASE_URL: makeExactValidator(readDatabaseUrl)({ default: DEFAULT_DATABASE }),
  });
  const { RAINDROP_MIN_WORKER_ID: min = 1 } = env;
  const { RAINDROP_MAX_WORKER_ID: max = Math.max(min, Math.min(64, named?.maxWorkerId ?? 64)) } = env;
  if (min > max) refuse('RAINDROP_MIN_WORKER_ID', `must not be greater than RAINDROP_MAX_WORKER_ID, ${max}`);
  if (env.API_KEYS_FOR === 'all' && values['API_KEYS'] === undefined && sources['API_KEYS'] === undefined) {
    refuse('API_KEYS', 'must name at least one key, because API_KEYS_FOR is all');
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return {
    host: env.HOST,
    port: env.PORT,
    database: env.DATABASE_URL,
    layout: named?.options,
    workers: { min, max },
    leaseMs: env.RAINDROP_LEASE_MS,
    workerHistoryDays: env.WORKER_HISTORY_DAYS,
    apiKeys: env.API_KEYS,
    workersApiKeys: env.WORKERS_API_KEYS,
    apiKeysFor: env.API_KEYS_FOR ?? (env.API_KEYS.length > 0 ? 'all' : 'workers'),
    rateLimit: env.RATE_LIMIT,
    trustProxy: env.TRUST_PROXY,
    allowedHosts: env.ALLOWED_HOSTS,
    knownCodes: env.KNOWN_CODES,
    drainMs: env.DRAIN_MS,
    logFormat: env.LOG_FORMAT,
    docsUrl: env.DOCS_URL,
  };
}

interface Values {
  readonly values: Readonly<Record<string, string>>;
  /** Which variable named the value of a secret, when a file holds it: `API_KEYS_FILE`. */
  readonly sources: Readonly<Record<string, string>>;
}

/** Every variable that is set, without spaces around it, and the secrets from their files. */
function readValues(environment: NodeJS.ProcessEnv, problems: ConfigurationProblem[]): Values {
  const texts = Object.entries(environment).map(([name, text = '']) => [name, text.trim()] as const);
  const values = Object.fromEntries(texts.filter(([, text]) => text !== ''));
  const sources: Record<string, string> = {};
  for (const name of SECRETS) {
    const source = `${name}_FILE`;
    const path = values[source];
    if (path === undefined) continue;
    const refuse = (message: string): void => void problems.push({ option: source, given: showValue(path), message });
    if (values[name] !== undefined) refuse(`cannot be combined with ${name}`);
    sources[name] = source;
    delete values[name];
    try {
      const text = readSmallFile(path).trim();
      if (text === '') refuse('must name a file with the value, but this one is empty');
      else values[name] = text;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      refuse(`must name a file that can be read: ${code ?? message}`);
    }
  }
  return { values, sources };
}

/** Far more than 500 keys need. */
const LARGEST_FILE_BYTES = 2 ** 20;

/**
 * The text of a regular file. A pipe without a writer would hold the start up, deaf to SIGTERM, and a device has no end.
 * @throws Error of the file system, or that says what is legal
 */
function readSmallFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is no regular file, but a pipe, socket or device');
    if (stats.size > LARGEST_FILE_BYTES) throw new Error(`it has ${stats.size} bytes, more than 1 MiB`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function integer(min: number, max: number, meaning: string): ExactValidator<number> {
  return makeExactValidator((given) => {
    const value = /^\d{1,9}$/.test(given) ? Number(given) : NaN;
    if (value >= min && value <= max) return value;
    throw new Error(`must be an integer from ${min} to ${max}: ${meaning}`);
  });
}

function oneOf<const Name extends string>(...names: readonly Name[]): ExactValidator<Name> {
  return makeExactValidator((given) => {
    const found = names.find((name) => name === given.toLowerCase());
    if (found === undefined) throw new Error(`must be one of ${names.join(', ')}`);
    return found;
  });
}

/** Texts with commas between. */
function list(pattern: RegExp, legal: string): ExactValidator<string[]> {
  return makeExactValidator((given) => {
    const texts = given.split(',').map((text) => text.trim());
    if (!texts.every((text) => pattern.test(text))) throw new Error(`must be ${legal}, separated by commas`);
    if (texts.length > LONGEST_LIST) throw new Error(`must be at most ${LONGEST_LIST}, not ${texts.length}`);
    return texts;
  });
}

const webAddress = makeExactValidator((given) => {
  if (/^https?:\/\//.test(given) && URL.canParse(given)) return given;
  throw new Error('must be an http:// or https:// address');
});

const layout = makeExactValidator(readLayout);
