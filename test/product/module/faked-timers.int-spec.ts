import { IdService, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import { mock } from 'node:test';
import * as timers from 'node:timers/promises';
import { databaseKinds } from '../../support/servers/test-databases.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

const YEARS_MS = 3 * 365 * 86_400_000;
const QUICK: SnowflakeModuleOptions = { ...OPTIONS, heartbeatIntervalMs: 200 };

const FAKES: readonly (readonly [string, (now: number) => void])[] = [
  ['Jest', (now) => void jest.useFakeTimers({ now })],
  ['node:test', (now) => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now })],
];

/** The true one: nothing else ends a test of what hangs. */
const { setTimeout: sleep } = timers;

/** The event, or after 20 s an error: the deadline runs by the true timers, as the faked ones stand still. */
function withinDeadline<T>(what: string, work: Promise<T>): Promise<T> {
  const late = sleep(20_000, undefined, { ref: false }).then(() =>
    Promise.reject(new Error(`waited in vain: ${what}`)),
  );
  return Promise.race([work, late]);
}

function unfake(): void {
  jest.useRealTimers();
  mock.timers.reset();
}

describe.each(databaseKinds)('on %s', (kind) => {
  // Before the hooks of the database, which need timers.
  afterEach(unfake);
  const database = useDatabase(kind, 'test');

  it.each(FAKES)('a service whose timers and clocks %s fakes is what it was', async (_, fake) => {
    const app = await startApp([typeorm(database.options), RaindropModule.forRoot(QUICK)]);
    const ids = app.get(IdService);
    const renewed = (): Promise<void> =>
      new Promise((resolve) => void ids.events.once('lease-renewed', () => resolve()));
    const now = Date.now();
    fake(now + YEARS_MS);
    expect(Math.abs(ids.parse(ids.nextId()).time.getTime() - now)).toBeLessThan(60_000);
    await withinDeadline('a renewal', renewed().then(renewed));
    unfake();
    await withinDeadline('a renewal', renewed());
    expect(ids.status()).toMatchObject({ state: 'held' });
    fake(now + YEARS_MS);
    await withinDeadline('the end', app.close());
    expect(ids.status().state).toBe('closed');
  });
});
