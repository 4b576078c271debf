import { ConfigurationError } from '@raindrop/core';
import { etcdWorkers, type EtcdWorkersOptions } from './etcd-workers.js';

describe('etcdWorkers()', () => {
  it.each<[string, object]>([
    ['endpoints', {}],
    ['endpoints', { endpoints: [] }],
    ['endpoints', { endpoints: '127.0.0.1:2379' }],
    ['endpoints', { endpoints: 'ftp://127.0.0.1' }],
    ['endpoints', { endpoints: ['http://127.0.0.1:2379', 'https://127.0.0.1:2379'] }],
    ['endpoints', { endpoints: 'http://user:secret@127.0.0.1:2379' }],
    ['prefix', { endpoints: 'http://127.0.0.1:2379', prefix: 'no-slash' }],
    ['prefix', { endpoints: 'http://127.0.0.1:2379', prefix: '/' }],
    ['username', { endpoints: 'http://127.0.0.1:2379', username: 'x' }],
    ['username', { endpoints: 'http://127.0.0.1:2379', password: 'x' }],
    ['ca', { endpoints: 'https://127.0.0.1:2379', ca: 7 }],
    ['endpoint', { endpoints: 'http://127.0.0.1:2379', endpoint: 'x' }],
  ])('names %s when it is wrong, and no secret: %j', (option, options) => {
    const make = (): unknown => etcdWorkers(options as EtcdWorkersOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ option })] }) as Error);
    expect(make).not.toThrow(/secret/);
  });

  it('takes one URL or several, over TLS as well', () => {
    expect(etcdWorkers({ endpoints: 'http://127.0.0.1:2379' }).name).toBe('etcd');
    const endpoints = ['https://127.0.0.1:2379', 'https://127.0.0.1:2381'];
    const assigner = etcdWorkers({ endpoints, username: 'a', password: 'b', ca: 'pem', prefix: 'shop/ids/' });
    expect(assigner.defaultWaitMs?.({ leaseMs: 60_000, graceMs: 60_000 } as never)).toBe(130_000);
  });
});
