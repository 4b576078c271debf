import { ConfigurationError } from '@raindrop/core';
import { readDemoConfig } from './demo-config.js';

describe('readDemoConfig', () => {
  it('needs nothing', () => {
    expect(readDemoConfig({ PATH: '/bin', PORT: '', DATABASE_URL: ' ' })).toEqual({
      host: '127.0.0.1',
      port: 3_000,
      database: { type: 'better-sqlite3', database: 'data/raindrop.sqlite' },
      workers: { min: 1, max: 64 },
    });
  });

  it('takes everything from the environment', () => {
    expect(
      readDemoConfig({
        PORT: '0',
        HOST: '::1',
        DATABASE_URL: 'postgres://u:p@db/x',
        RAINDROP_MIN_WORKER_ID: '100',
        RAINDROP_MAX_WORKER_ID: '199',
      }),
    ).toEqual({
      host: '::1',
      port: 0,
      database: { type: 'postgres', url: 'postgres://u:p@db/x' },
      workers: { min: 100, max: 199 },
    });
  });

  it('gives a lower bound above 64 at least one worker', () => {
    expect(readDemoConfig({ RAINDROP_MIN_WORKER_ID: '500' }).workers).toEqual({ min: 500, max: 500 });
  });

  it.each([
    [{ PORT: '65536' }, 'PORT', '0 to 65535'],
    [{ PORT: '3e3' }, 'PORT', 'integer'],
    [{ PORT: '-1' }, 'PORT', 'integer'],
    [{ RAINDROP_MIN_WORKER_ID: '1024' }, 'RAINDROP_MIN_WORKER_ID', '0 to 1023'],
    [{ RAINDROP_MAX_WORKER_ID: 'all' }, 'RAINDROP_MAX_WORKER_ID', '0 to 1023'],
    [{ RAINDROP_MIN_WORKER_ID: '9', RAINDROP_MAX_WORKER_ID: '8' }, 'RAINDROP_MIN_WORKER_ID', 'greater'],
    [{ DATABASE_URL: 'oracle://u:secret@db/x' }, 'DATABASE_URL', 'postgres://'],
  ])('refuses %j', (environment, variable, legal) => {
    const failure = caught(environment);
    expect(failure.problems.map(({ option }) => option)).toEqual([variable]);
    expect(failure.message).toContain(legal);
    expect(failure.message).not.toContain('secret');
  });

  it('reports everything that is wrong together', () => {
    const failure = caught({ PORT: 'x', RAINDROP_MAX_WORKER_ID: '2000', DATABASE_URL: 'x' });
    expect(failure.problems.map(({ option }) => option)).toEqual(['PORT', 'RAINDROP_MAX_WORKER_ID', 'DATABASE_URL']);
  });
});

function caught(environment: NodeJS.ProcessEnv): ConfigurationError {
  try {
    readDemoConfig(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
  }
  throw new Error('no ConfigurationError');
}
