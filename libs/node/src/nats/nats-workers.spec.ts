import { ConfigurationError } from '@raindrop/core';
import { problemsOfBucket, problemsOfVersion, warningsOf } from './nats-connection.js';
import { keyOfNats, natsKeyOf } from './nats-reader.js';
import { natsWorkers, type NatsWorkersOptions } from './nats-workers.js';

describe('natsWorkers()', () => {
  it.each<[string, object]>([
    ['connection', {}],
    ['connection', { connection: '' }],
    ['connection', { connection: 'nats://user:secret@ here' }],
    ['connection', { connection: 'nats://user:secret@nats:4222' }],
    ['connection', { connection: { servers: [] } }],
    ['connection', { connection: { servers: ['nats-0:4222', 7], pass: 'secret' } }],
    ['connection', { connection: 7 }],
    ['bucket', { connection: 'nats-0:4222', bucket: 'a.b' }],
    ['bucket', { connection: 'nats-0:4222', bucket: '' }],
    ['syncAlways', { connection: 'nats-0:4222', syncAlways: 'yes' }],
    ['servers', { connection: 'nats-0:4222', servers: 'x' }],
  ])('names %s when it is wrong, and no secret: %j', (option, options) => {
    const make = (): unknown => natsWorkers(options as NatsWorkersOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ option })] }) as Error);
    expect(make).not.toThrow(/secret/);
  });

  it('takes a URL, or the options of a connection', () => {
    expect(natsWorkers({ connection: 'nats://127.0.0.1:4222' }).name).toBe('nats');
    const servers = ['127.0.0.1:4222', '127.0.0.1:4223'];
    const assigner = natsWorkers({ connection: { servers, user: 'a', pass: 'b' }, bucket: 'ids', syncAlways: true });
    expect(assigner.defaultWaitMs?.({ leaseMs: 60_000, graceMs: 60_000 } as never)).toBe(130_000);
  });
});

describe('A bucket of NATS', () => {
  const safe = { storage: 'file', retention: 'limits', discard: 'new', num_replicas: 3, max_msgs_per_subject: 16 };

  it.each<[RegExp, object]>([
    [/storage is memory/, { storage: 'memory' }],
    [/retention is workqueue/, { retention: 'workqueue' }],
    [/history is 1:/, { max_msgs_per_subject: 1 }],
    [/history is -1:/, { max_msgs_per_subject: -1 }],
    [/values expire/, { max_age: 1 }],
    [/it drops old values/, { discard: 'old', max_bytes: 1_000 }],
    [/it drops old values/, { discard: 'old', max_msgs: 1_000 }],
    [/no_ack/, { no_ack: true }],
    [/persist_mode async/, { persist_mode: 'async' }],
    [/copies another/, { mirror: { name: 'x' } }],
    [/copies another/, { sources: [{ name: 'x' }] }],
  ])('is refused in words that match %s', (words, settings) => {
    expect(problemsOfBucket({ ...safe, ...settings })).toEqual([expect.stringMatching(words)]);
  });

  it('is taken when it loses nothing', () => {
    expect(problemsOfBucket(safe)).toEqual([]);
    expect(problemsOfBucket({ ...safe, discard: 'old', max_bytes: -1, max_msgs: -1, max_age: 0, sources: [] })).toEqual(
      [],
    );
    expect(problemsOfBucket({ ...safe, discard: 'new', max_bytes: 1_000, max_msgs_per_subject: 64 })).toEqual([]);
  });

  it('is refused on a server that loses streams', () => {
    for (const version of ['2.9.10', '2.10.22', '2.10.0-beta.1', '1.99.99']) {
      expect(problemsOfVersion(version)).toEqual([expect.stringContaining(`${version} can lose`)]);
    }
    for (const version of ['2.10.23', '2.10.27', '2.11.0', '2.15.1', '3.0.0', '2.12.0-RC.1']) {
      expect(problemsOfVersion(version)).toEqual([]);
    }
  });

  it('warns of one replica in a cluster, and of what is not synced', () => {
    expect(warningsOf(safe, true, true)).toEqual([]);
    expect(warningsOf({ ...safe, num_replicas: 1 }, false, true)).toEqual([]);
    expect(warningsOf({ ...safe, num_replicas: 1 }, true, true)).toEqual([expect.stringContaining('num_replicas')]);
    expect(warningsOf(safe, true, false)).toEqual([expect.stringMatching(/sync_interval.*commitLossWindowMs/)]);
  });

  it.each(['row/7', 'layout/1000@1672531200:t33.w10.b1.s19', 'état = 1'])('keeps the key %s', (key) => {
    expect(natsKeyOf(key)).toMatch(/^[\w=./-]+$/);
    expect(keyOfNats(natsKeyOf(key))).toBe(key);
  });
});
