import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ConfigurationError, type SharedIdRingHandle } from '@raindrop/core';
import { type SharedIdRing, SharedIds } from '@raindrop/core/internal';
import { openSharedIds, sharedIdRing } from '@raindrop/node/threads';
import { createTestIdService } from './testing/raindrop-testbed.js';
import { RaindropThreadModule } from './threads.js';

const QUIET = { logger: { warn: () => {} } };

@Injectable()
class Orders {
  constructor(private readonly ids: SharedIds) {}

  number = (): string => this.ids.nextString();
}

@Module({ providers: [Orders] })
class OrdersModule {}

describe('The module of a worker thread', () => {
  let ring: SharedIdRing;

  beforeEach(() => (ring = sharedIdRing(createTestIdService({ now: Date.now() }).ids, QUIET)));
  afterEach(() => ring.close());

  it('lets the IDs of the ring be injected everywhere, without a database', async () => {
    const imports = [RaindropThreadModule.forRoot({ handle: structuredClone(ring.handle), ...QUIET }), OrdersModule];
    const app = await Test.createTestingModule({ imports }).compile();
    const orders = app.get(Orders);
    expect(BigInt(orders.number())).toBeLessThan(BigInt(orders.number()));
    await app.close();
  });

  it('is only for its own module when it is not global', async () => {
    const handle = structuredClone(ring.handle);
    const imports = [RaindropThreadModule.forRoot({ handle, isGlobal: false, ...QUIET }), OrdersModule];
    await expect(Test.createTestingModule({ imports }).compile()).rejects.toThrow('SharedIds');
  });

  it.each([
    [
      { handle: undefined as unknown as SharedIdRingHandle },
      'handle = undefined: must be the handle of a SharedIdRing',
    ],
    [{ asyncTimeoutMs: -1 }, 'asyncTimeoutMs = -1: is out of range'],
    [{ handel: 1 }, 'handel = (number): is not an option'],
  ])('refuses %p', (options, message) => {
    expect(() => RaindropThreadModule.forRoot({ handle: ring.handle, ...options })).toThrow(message);
  });
});

describe('The ring of a service', () => {
  it('refuses wrong options', () => {
    const { ids } = createTestIdService();
    expect(() => sharedIdRing(ids, { boostPower: -1 })).toThrow('boostPower = -1: is out of range');
  });

  it('is emptied at every suspicion, also one that is over before a thread could look', () => {
    const { ids } = createTestIdService({ now: Date.now() });
    const ring = sharedIdRing(ids, QUIET);
    ids.events.emit('lease-suspect', { type: 'lease-suspect', workerId: 1, reason: 'a test' });
    expect(ring.status()).toMatchObject({ state: 'failed', left: 0 });
    ring.close();
  });

  it('is one of many, which share their listeners and leave none behind: nothing of a closed one stays', () => {
    const { ids } = createTestIdService({ now: Date.now() });
    const listeners = (): number =>
      ids.events.eventNames().reduce((sum, name) => sum + ids.events.listenerCount(name), 0);
    const before = listeners();
    const rings = Array.from({ length: 20 }, () => sharedIdRing(ids, { ...QUIET, boostPower: 0 }));
    expect(listeners()).toBe(before + 5);
    const [first, ...others] = rings;
    first!.close();
    ids.events.emit('lease-suspect', { type: 'lease-suspect', workerId: 1, reason: 'a test' });
    expect(rings.map((each) => each.status().state)).toEqual(['closed', ...others.map(() => 'failed')]);
    for (const each of others) each.close();
    expect(listeners()).toBe(before);
    const again = sharedIdRing(ids, { ...QUIET, boostPower: 0 });
    ids.events.emit('lease-released', { type: 'lease-released', workerId: 1 });
    expect(again.status().state).toBe('closed');
    expect(listeners()).toBe(before);
  });

  it('that is closed already leaves no listener', async () => {
    const { ids } = createTestIdService({ now: Date.now() });
    await ids.onApplicationShutdown();
    expect(sharedIdRing(ids, QUIET).status().state).toBe('closed');
    expect(ids.events.listenerCount('lease-lost')).toBe(0);
  });

  it('and those of a thread refuse options that are none, and a logger that is none', () => {
    const { ids } = createTestIdService({ now: Date.now() });
    const ring = sharedIdRing(ids, QUIET);
    for (const open of [
      (options: unknown) => sharedIdRing(ids, options as never),
      (options: unknown) => openSharedIds(ring.handle, options as never),
    ]) {
      for (const none of [null, 5, []]) expect(() => open(none)).toThrow(ConfigurationError);
      expect(() => open({ logger: null })).toThrow('logger = (object): must have a method warn');
      expect(() => open({ logger: { log: () => {} } })).toThrow(ConfigurationError);
    }
    expect(() => RaindropThreadModule.forRoot(null as never)).toThrow(ConfigurationError);
    ring.close();
  });
});
