import { EventEmitter, once } from 'node:events';
import type { LeaseEvent } from '@raindrop/core';
import { emitSafely } from './listeners.js';

const EVENT: LeaseEvent = { type: 'lease-lost', workerId: 3, reason: 'taken' };

function thrown(): never {
  throw new Error('no message');
}

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('Telling listeners', () => {
  const events = new EventEmitter();
  const unhandled = jest.fn();
  let warned: jest.SpyInstance;

  beforeEach(() => {
    warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    process.on('unhandledRejection', unhandled);
  });

  afterEach(() => {
    process.off('unhandledRejection', unhandled);
    events.removeAllListeners();
    jest.restoreAllMocks();
  });

  it('tells those behind one that throws, and reports it as a process warning', () => {
    const told: unknown[] = [];
    events.on('lease-lost', () => {
      throw new Error('pager is down');
    });
    events.on('lease-lost', (event) => told.push(event));
    emitSafely(events, EVENT);
    expect(told).toEqual([EVENT]);
    expect(warned.mock.calls).toEqual([["A listener of 'lease-lost' threw: pager is down", 'RaindropWarning']]);
  });

  it('takes rejections of async listeners for the same: no unhandled one, no error event', async () => {
    const errors = jest.fn();
    events.on('error', errors);
    const rejecting = (): unknown => Promise.reject(new Error('pager is down'));
    events.on('lease-lost', rejecting);
    emitSafely(events, EVENT);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warned.mock.calls).toEqual([["A listener of 'lease-lost' threw: pager is down", 'RaindropWarning']]);
    expect(errors).not.toHaveBeenCalled();
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('calls no code of what was thrown', () => {
    events.on('lease-lost', () => {
      throw Object.create(null);
    });
    emitSafely(events, EVENT);
    expect(warned.mock.calls).toEqual([[expect.stringContaining('not an Error (object)'), 'RaindropWarning']]);
  });

  it.each<[string, unknown]>([
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: () => thrown() })],
    ['an error whose message is a symbol', Object.assign(new Error(), { message: Symbol('why') })],
    ['a proxy that was revoked', revokedProxy()],
  ])('is not stopped by %s, thrown or rejected', async (_, trouble) => {
    const told: unknown[] = [];
    events.on('lease-lost', () => {
      throw trouble;
    });
    const rejecting = async (): Promise<unknown> => {
      await Promise.resolve();
      throw trouble;
    };
    events.on('lease-lost', (): unknown => rejecting());
    events.on('lease-lost', (event) => told.push(event));
    emitSafely(events, EVENT);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual([EVENT]);
    expect(warned).toHaveBeenCalledTimes(2);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('is what an ordinary EventEmitter does: once, in order, with the emitter as this', async () => {
    const order: unknown[] = [];
    const soon = once(events, 'lease-lost');
    events.once('lease-lost', () => order.push('once'));
    events.on('lease-lost', function (this: unknown) {
      order.push(this);
    });
    events.prependListener('lease-lost', () => order.push('first'));
    emitSafely(events, EVENT);
    emitSafely(events, EVENT);
    expect(order).toEqual(['first', 'once', events, 'first', events]);
    expect(await soon).toEqual([EVENT]);
  });
});
