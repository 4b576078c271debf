import { IdService, RaindropModule } from '@raindrop/nestjs';
import { redisBuffer } from '@raindrop/node/redis';
import { freePort } from '../../support/servers/free-port.js';
import { until } from '../../support/until.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

function down(): never {
  throw new Error('the log is down');
}

describe.each([
  ['throws', down],
  ['rejects', () => Promise.reject(new Error('the log is down'))],
])('A logger that %s', (_, fail) => {
  const database = useDatabase('sqlite', 'test');
  const logger = { log: fail, warn: fail, error: fail };
  const warnings: string[] = [];
  const unhandled = jest.fn();

  beforeEach(() => {
    warnings.length = 0;
    jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)));
    process.on('unhandledRejection', unhandled);
  });

  afterEach(() => {
    jest.restoreAllMocks();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('stops neither a start with warnings nor the renewals', async () => {
    // A second of a layout with the present in its last year is warned about.
    const options = { ...OPTIONS, logger, heartbeatIntervalMs: 50, timeUnit: 'hour' } as const;
    const app = await startApp([typeorm(database.options), RaindropModule.forRoot(options)]);
    const ids = app.get(IdService);
    await until('renewals', () => {
      const status = ids.status();
      return status.idMode === 'snowflake' && status.renewals > 2;
    });
    expect(ids.status()).toMatchObject({ state: 'held', lastError: undefined });
    expect(warnings.filter((each) => each.includes('the log is down')).length).toBeGreaterThan(0);
    await app.close();
  });

  it('stops no numbers whose buffer cannot be used', async () => {
    const connection = `redis://127.0.0.1:${await freePort()}`;
    const app = await startApp([
      typeorm(database.options),
      RaindropModule.forRoot({ idMode: 'numberSection', redis: redisBuffer({ connection }), logger }),
    ]);
    expect(await app.get(IdService).nextIdsAsync(3)).toEqual([1n, 2n, 3n]);
    expect(warnings.join()).toContain('the shared buffer of numbers cannot be used');
    await app.close();
  });
});
