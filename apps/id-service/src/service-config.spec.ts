import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, presets } from '@raindrop/nestjs';
import { readServiceConfig } from './service-config.js';

const DEFAULTS = {
  layout: undefined,
  leaseMs: 60_000,
  workerHistoryDays: 0,
  apiKeys: [],
  workersApiKeys: [],
  apiKeysFor: 'workers',
  rateLimit: 0,
  trustProxy: 0,
  drainMs: 1_500,
  allowedHosts: [],
  knownCodes: [],
  logFormat: 'text',
  docsUrl: undefined,
};

describe('readServiceConfig', () => {
  it('needs nothing', () => {
    expect(readServiceConfig({ PATH: '/bin', PORT: '', DATABASE_URL: ' ' })).toEqual({
      host: '127.0.0.1',
      port: 3_000,
      database: { type: 'better-sqlite3', database: 'data/raindrop.sqlite' },
      workers: { min: 1, max: 64 },
      ...DEFAULTS,
    });
  });

  it('takes everything from the environment', () => {
    expect(
      readServiceConfig({
        PORT: '0',
        HOST: '::1',
        DATABASE_URL: 'postgres://u:p@db/x',
        LAYOUT: '{"startTimeStamp":"2025-01-01","timeStampLength":34,"workIdLength":9}',
        RAINDROP_MIN_WORKER_ID: '100',
        RAINDROP_MAX_WORKER_ID: '199',
        RAINDROP_LEASE_MS: '30000',
        WORKER_HISTORY_DAYS: '30',
        API_KEYS: 'first-key-0123456789, second-key-0123456789',
        WORKERS_API_KEYS: 'workers-key-0123456789',
        API_KEYS_FOR: 'all',
        RATE_LIMIT: '600',
        TRUST_PROXY: '1',
        DRAIN_MS: '5000',
        ALLOWED_HOSTS: 'ids.example, ids',
        KNOWN_CODES: 'order,invoice 2',
        LOG_FORMAT: 'JSON',
        DOCS_URL: 'https://docs.example/errors.md',
      }),
    ).toEqual({
      host: '::1',
      port: 0,
      database: { type: 'postgres', url: 'postgres://u:p@db/x' },
      layout: { startTimeStamp: '2025-01-01', timeStampLength: 34, workIdLength: 9 },
      workers: { min: 100, max: 199 },
      leaseMs: 30_000,
      workerHistoryDays: 30,
      apiKeys: ['first-key-0123456789', 'second-key-0123456789'],
      workersApiKeys: ['workers-key-0123456789'],
      apiKeysFor: 'all',
      rateLimit: 600,
      trustProxy: 1,
      allowedHosts: ['ids.example', 'ids'],
      knownCodes: ['order', 'invoice 2'],
      drainMs: 5_000,
      logFormat: 'json',
      docsUrl: 'https://docs.example/errors.md',
    });
  });

  it('gives a lower bound above 64 at least one worker', () => {
    expect(readServiceConfig({ RAINDROP_MIN_WORKER_ID: '500' }).workers).toEqual({ min: 500, max: 500 });
  });

  it.each([
    [{ PORT: '65536' }, 'PORT', '0 to 65535'],
    [{ PORT: '3e3' }, 'PORT', 'integer'],
    [{ PORT: '-1' }, 'PORT', 'integer'],
    [{ RAINDROP_MIN_WORKER_ID: '1024' }, 'RAINDROP_MIN_WORKER_ID', '0 to 1023'],
    [{ RAINDROP_MAX_WORKER_ID: 'all' }, 'RAINDROP_MAX_WORKER_ID', '0 to 1023'],
    [{ RAINDROP_MIN_WORKER_ID: '9', RAINDROP_MAX_WORKER_ID: '8' }, 'RAINDROP_MIN_WORKER_ID', 'greater'],
    [{ RAINDROP_LEASE_MS: '3999' }, 'RAINDROP_LEASE_MS', '4000 to 86400000'],
    [{ API_KEYS: 'secret' }, 'API_KEYS', '16 to 256 printable'],
    [{ API_KEYS: 'secret-0123456789,,' }, 'API_KEYS', '16 to 256 printable'],
    [{ API_KEYS: 'secret 0123456789' }, 'API_KEYS', 'without spaces'],
    [{ WORKERS_API_KEYS: 'secret' }, 'WORKERS_API_KEYS', '16 to 256 printable'],
    [{ API_KEYS_FOR: 'all', WORKERS_API_KEYS: 'workers-key-0123456789' }, 'API_KEYS', 'because API_KEYS_FOR is all'],
    [{ API_KEYS_FOR: 'all' }, 'API_KEYS', 'because API_KEYS_FOR is all'],
    [{ API_KEYS_FOR: 'none' }, 'API_KEYS_FOR', 'workers, all'],
    [{ RATE_LIMIT: '-1' }, 'RATE_LIMIT', '0 to 10000000'],
    [{ TRUST_PROXY: 'true' }, 'TRUST_PROXY', '0 to 10'],
    [{ DRAIN_MS: '600001' }, 'DRAIN_MS', '0 to 600000'],
    [{ ALLOWED_HOSTS: 'ids.example:3000' }, 'ALLOWED_HOSTS', 'without port'],
    [{ ALLOWED_HOSTS: 'IDS' }, 'ALLOWED_HOSTS', 'lower case'],
    [{ KNOWN_CODES: 'order,,' }, 'KNOWN_CODES', '1 to 128'],
    [{ KNOWN_CODES: 'x,'.repeat(500) + 'x' }, 'KNOWN_CODES', 'at most 500'],
    [{ LOG_FORMAT: 'xml' }, 'LOG_FORMAT', 'text, json'],
    [{ DOCS_URL: 'javascript:alert(1)' }, 'DOCS_URL', 'https://'],
    [{ LAYOUT: 'numbers' }, 'LAYOUT', 'must be number, a preset (twitter, '],
    [{ LAYOUT: '{' }, 'LAYOUT', 'a JSON object'],
    [{ LAYOUT: '{"workIdLength":2}' }, 'LAYOUT', 'workIdLength = 2: is out of range'],
    [{ LAYOUT: '{"workIdLength":2}' }, 'LAYOUT', 'startTimeStamp = undefined: is required'],
    [{ LAYOUT: '{"preset":["tsid"]}' }, 'LAYOUT', 'must be number, a preset (twitter, '],
    [{ LAYOUT: '{"preset":["number"]}' }, 'LAYOUT', 'must be number, a preset (twitter, '],
    [{ LAYOUT: '{"preset":null}' }, 'LAYOUT', 'must be number, a preset (twitter, '],
    [{ LAYOUT: '{"leaseMs":1}' }, 'LAYOUT', '"leaseMs" is not known'],
    [{ LAYOUT: '{"preset":"tsid","nodeBits":99}' }, 'LAYOUT', 'nodeBits = 99'],
    [{ LAYOUT: 'number', RAINDROP_MAX_WORKER_ID: '256' }, 'RAINDROP_MAX_WORKER_ID', '0 to 255'],
    [{ DATABASE_URL: 'oracle://u:secret@db/x' }, 'DATABASE_URL', 'postgres://'],
  ])('refuses %j', (environment, variable, legal) => {
    const failure = caught(environment);
    expect(failure.problems.map(({ option }) => option)).toEqual([variable]);
    expect(failure.message).toContain(legal);
    expect(failure.message).not.toContain('secret');
  });

  it.each<[string, object, number]>([
    ['number', { layout: 'number' }, 64],
    ['Number', { layout: 'number' }, 64],
    ['{"preset":"number","startTimeStamp":"2026-02-03"}', { layout: 'number', startTimeStamp: '2026-02-03' }, 64],
    ['keyworker', { layout: presets.keyWorker() }, 64],
    ['{"preset":"tsid","nodeBits":4}', { layout: presets.tsid({ nodeBits: 4 }) }, 15],
  ])('takes LAYOUT=%s, and no worker id beyond it', (LAYOUT, layout, most) => {
    expect(readServiceConfig({ LAYOUT })).toMatchObject({ layout, workers: { min: 1, max: most } });
  });

  it.each<[object, 'workers' | 'all']>([
    [{}, 'workers'],
    [{ WORKERS_API_KEYS: 'workers-key-0123456789' }, 'workers'],
    [{ API_KEYS: 'first-key-0123456789' }, 'all'],
    [{ API_KEYS: 'first-key-0123456789', API_KEYS_FOR: 'workers' }, 'workers'],
  ])('with %j the keys are for: %s', (environment, apiKeysFor) => {
    expect(readServiceConfig({ ...environment })).toMatchObject({ apiKeysFor });
  });

  describe('with secrets in files', () => {
    let folder: string;

    beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'raindrop-secrets-'))));
    afterAll(() => rmSync(folder, { recursive: true }));

    const file = (text: string): string => {
      const path = join(folder, 'secret');
      writeFileSync(path, text);
      return path;
    };

    it('reads them, without the end of the line', () => {
      const keys = file('first-key-0123456789,second-key-0123456789\n');
      const environment = { API_KEYS_FILE: keys, WORKERS_API_KEYS_FILE: keys, API_KEYS_FOR: 'all' };
      const both = ['first-key-0123456789', 'second-key-0123456789'];
      expect(readServiceConfig(environment)).toMatchObject({ apiKeys: both, workersApiKeys: both });
      const database = { type: 'postgres', url: 'postgres://u:p@db/x' };
      expect(readServiceConfig({ DATABASE_URL_FILE: file('postgres://u:p@db/x\r\n') })).toMatchObject({ database });
    });

    it.each<[string, string | undefined, object, string]>([
      ['no file', undefined, {}, 'must name a file that can be read: ENOENT'],
      ['a folder', '', { API_KEYS_FILE: tmpdir() }, 'must name a file that can be read: EISDIR'],
      ['an empty file', '\n', {}, 'this one is empty'],
      ['a wrong value', 'secret', {}, 'must be keys of 16 to 256'],
      ['a device', '', { API_KEYS_FILE: '/dev/zero' }, 'no regular file, but a pipe, socket or device'],
      ['a file that is too large', 'x'.repeat(2 ** 20 + 1), {}, 'it has 1048577 bytes, more than 1 MiB'],
      ['both', 'secret-0123456789', { API_KEYS: 'secret-9876543210' }, 'cannot be combined with API_KEYS'],
    ])('refuses %s, with the name of the variable', (_, text, more, message) => {
      const path = text === undefined ? join(folder, 'none') : file(text);
      const failure = caught({ API_KEYS_FILE: path, API_KEYS_FOR: 'all', ...more });
      expect(failure.problems.map(({ option }) => option)).toEqual(['API_KEYS_FILE']);
      expect(failure.message).toContain(message);
      expect(failure.message).not.toMatch(/secret-?\d/);
    });
  });

  it.each(['API_KEYS_FILE', 'WORKERS_API_KEYS_FILE', 'DATABASE_URL_FILE'])('does not wait for a pipe in %s', (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'raindrop-secrets-'));
    const pipe = join(folder, 'pipe');
    try {
      execFileSync('mkfifo', [pipe]);
      expect(caught({ [name]: pipe }).message).toContain('no regular file, but a pipe, socket or device');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reports everything that is wrong together', () => {
    const failure = caught({ PORT: 'x', RAINDROP_MAX_WORKER_ID: '2000', DATABASE_URL: 'x' });
    expect(failure.problems.map(({ option }) => option)).toEqual(['PORT', 'RAINDROP_MAX_WORKER_ID', 'DATABASE_URL']);
  });
});

function caught(environment: NodeJS.ProcessEnv): ConfigurationError {
  try {
    readServiceConfig(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
  }
  throw new Error('no ConfigurationError');
}
