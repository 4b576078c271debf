import { AptInstall } from './apt-install';
import { NoServerError, obtainServer, Way } from './obtain-server';
import { waysTo } from './ways';

const failing = (name: string, reason: string): Way => ({
  name: () => name,
  obtain: () => Promise.reject(new Error(reason)),
});

describe('obtainServer', () => {
  it('takes the first way that leads to a server', async () => {
    const server = { kind: 'redis', url: 'redis://127.0.0.1:1', version: '7.0.15', how: 'found' } as const;
    const found: Way = { name: () => 'second', obtain: () => Promise.resolve(server) };
    await expect(obtainServer('redis', [failing('first', 'no'), found, failing('third', 'no')])).resolves.toBe(server);
  });

  it('names the server, every way with its reason and the variable when none leads to one', async () => {
    const attempt = obtainServer('postgres', [failing('this way', 'closed'), failing('that way', 'too far')]);
    await expect(attempt).rejects.toThrow(NoServerError);
    await expect(attempt).rejects.toThrow(
      /no PostgreSQL[^]*this way: closed[^]*that way: too far[^]*RAINDROP_TEST_POSTGRES_URL/,
    );
  });
});

describe('waysTo', () => {
  const names = (environment: NodeJS.ProcessEnv): string[] =>
    waysTo('mariadb', environment, new AptInstall()).map((way) => way.name('mariadb'));

  it('uses a server that is named, and no other', () => {
    const variable = 'RAINDROP_TEST_MARIADB_URL';
    expect(names({ [variable]: 'mariadb://root@127.0.0.1:1' })).toEqual([`the URL in ${variable}`]);
  });

  it('starts servers of its own before it takes those that run, unless running ones are asked for', () => {
    const running = 'a server running on 127.0.0.1:3306 that asks for no password, or for that of docker-compose.yml';
    expect(names({}).indexOf(running)).toBe(2);
    expect(names({ RAINDROP_TEST_SERVERS: 'running' })[0]).toBe(running);
    expect(names({ RAINDROP_TEST_SERVERS: 'running' }).sort()).toEqual(names({}).sort());
  });

  it('refuses an unknown value of RAINDROP_TEST_SERVERS', () => {
    expect(() => names({ RAINDROP_TEST_SERVERS: 'mine' })).toThrow(/"mine"; it can be "running" or absent/);
  });

  it('reports a named server that does not answer without repeating its password', async () => {
    const environment = { RAINDROP_TEST_MARIADB_URL: 'mariadb://root:secret@127.0.0.1:1' };
    const attempt = obtainServer('mariadb', waysTo('mariadb', environment, new AptInstall()));
    await expect(attempt).rejects.toThrow(/RAINDROP_TEST_MARIADB_URL: .*ECONNREFUSED/);
    await expect(attempt).rejects.not.toThrow(/secret/);
  });
});
