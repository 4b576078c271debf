import { DataSource } from 'typeorm';
import { freePort } from './free-port';
import { startMariadb, startPostgres, startRedis } from './private-servers';
import { probeServer } from './probe-server';
import { testDatabase } from './test-databases';

jest.setTimeout(120_000);

describe.each([
  ['mariadb', startMariadb],
  ['postgres', startPostgres],
] as const)('a private %s', (kind, start) => {
  it('keeps a committed row when it is killed and restarted', async () => {
    const server = await start();
    try {
      const database = await testDatabase(kind, server.url);
      const connect = (): Promise<DataSource> => new DataSource({ ...database.options, entities: [] }).initialize();
      const before = await connect();
      await before.query('CREATE TABLE drops (id bigint PRIMARY KEY)');
      await before.query('INSERT INTO drops (id) VALUES (42)');
      await before.destroy();
      const firstPid = server.pid;

      await server.kill('SIGKILL');
      expect(server.pid).toBeUndefined();
      await expect(connect()).rejects.toThrow();

      await server.restart();
      expect(server.pid).not.toBe(firstPid);
      const after = await connect();
      const rows = await after.query<{ id: string | number }[]>('SELECT id FROM drops');
      await after.destroy();
      expect(rows.map((row) => Number(row.id))).toEqual([42]);
    } finally {
      await server.stop();
    }
    expect(server.pid).toBeUndefined();
    await expect(probeServer(kind, server.url)).rejects.toThrow();
  });
});

describe('a private redis', () => {
  it('can be killed and restarted on its port', async () => {
    const server = await startRedis();
    try {
      await server.kill();
      await expect(probeServer('redis', server.url)).rejects.toThrow();
      await server.restart();
      await expect(probeServer('redis', server.url)).resolves.toBe(server.version);
    } finally {
      await server.stop();
    }
  });
});

describe('a private server that does not come up', () => {
  it('is started again: nodes of a cluster may lose their first try', async () => {
    let starts = 0;
    const server = await startMariadb(() => (++starts === 1 ? ['--no-such-option'] : []));
    await server.stop();
    expect(starts).toBe(2);
  });

  it('fails with what its log complains of after three starts', async () => {
    let starts = 0;
    const start = startMariadb(() => [`--no-such-option-${++starts}`]);
    await expect(start).rejects.toThrow(/ended before it answered.*\n.*\[ERROR\].*no-such-option-1/);
    expect(starts).toBe(3);
  });
});

describe('a free port', () => {
  it('is given once in a run', async () => {
    const ports = await Promise.all(Array.from({ length: 300 }, freePort));
    expect(new Set(ports).size).toBe(300);
  });
});
