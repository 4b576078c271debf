import { IdService, RaindropModule } from '@raindrop/nestjs';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

describe('The events of a service', () => {
  const database = useDatabase('sqlite', 'suite');
  afterEach(() => jest.restoreAllMocks());

  it('reach every listener, whatever the others throw, and never as an error event', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const options = { ...OPTIONS, heartbeatIntervalMs: 50 };
    const app = await startApp([typeorm(database.options), RaindropModule.forRoot(options)]);
    const { events, workerId } = app.get(IdService);
    const errors = jest.fn();
    const emitter: NodeJS.EventEmitter = events;
    emitter.on('error', errors);
    events.once('lease-renewed', () => {
      throw new Error('first');
    });
    const rejecting = (): unknown => Promise.reject(new Error('second'));
    emitter.once('lease-renewed', rejecting);
    const renewed = await new Promise((resolve) => events.once('lease-renewed', resolve));
    expect(renewed).toEqual({ type: 'lease-renewed', workerId, tookMs: expect.any(Number) as number });

    await new Promise((resolve) => events.once('lease-renewed', resolve));
    const reported = warned.mock.calls.filter(([, name]) => (name as unknown) === 'RaindropWarning');
    expect(reported.map(([message]) => message)).toEqual([
      "A listener of 'lease-renewed' threw: first",
      "A listener of 'lease-renewed' threw: second",
    ]);
    expect(errors).not.toHaveBeenCalled();
    expect(unhandled).not.toHaveBeenCalled();
    process.off('unhandledRejection', unhandled);
    await app.close();
  });
});
