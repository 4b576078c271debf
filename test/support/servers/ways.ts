import { AptInstall } from './apt-install';
import { startWithDocker } from './docker-server';
import { ObtainedServer, Way } from './obtain-server';
import { PrivateServer } from './private-server';
import { startMariadb, startPostgres, startRedis } from './private-servers';
import { probeServer } from './probe-server';
import { serverAddress } from './server-address';
import { COMPOSE_PASSWORD, localUrl, serverFacts, ServerKind } from './server-kind';

/**
 * Every way to a server, in the order they are tried. A private one comes first: it lives in memory, and tests may kill
 * its like. A server that is named is used or fails: going on to another one would test something else than was asked
 * for.
 *
 * @param environment `RAINDROP_TEST_SERVERS=running` takes the servers that already run on this machine first.
 * @throws RangeError for any other value of it.
 */
export function waysTo(kind: ServerKind, environment: NodeJS.ProcessEnv, apt: AptInstall): Way[] {
  const choice = environment['RAINDROP_TEST_SERVERS'] ?? '';
  if (choice !== '' && choice !== 'running') {
    throw new RangeError(`RAINDROP_TEST_SERVERS is "${choice}"; it can be "running" or absent`);
  }
  const url = environment[serverFacts[kind].variable] ?? '';
  if (url !== '') {
    return [named(url)];
  }
  const ours = [startedPrivately, installedWithApt(apt)];
  return choice === 'running'
    ? [alreadyRunning, ...ours, startedWithDocker]
    : [...ours, alreadyRunning, startedWithDocker];
}

function named(url: string): Way {
  return {
    name: (kind) => `the URL in ${serverFacts[kind].variable}`,
    async obtain(kind) {
      const { variable, usualPort } = serverFacts[kind];
      const { host, port } = serverAddress(url, usualPort);
      return { kind, url, version: await probeServer(kind, url), how: `given by ${variable}, on ${host}:${port}` };
    },
  };
}

const alreadyRunning: Way = {
  name: (kind) =>
    `a server running on 127.0.0.1:${serverFacts[kind].usualPort} that asks for no password, or for that of docker-compose.yml`,
  async obtain(kind) {
    const { usualPort } = serverFacts[kind];
    const how = `running on 127.0.0.1:${usualPort}`;
    try {
      const url = localUrl(kind, usualPort);
      return { kind, url, version: await probeServer(kind, url), how };
    } catch {
      const url = localUrl(kind, usualPort, COMPOSE_PASSWORD);
      return { kind, url, version: await probeServer(kind, url), how };
    }
  },
};

const startedPrivately: Way = {
  name: () => 'a private server from the installed programs',
  obtain: startPrivately,
};

const startedWithDocker: Way = {
  name: () => 'a container from docker-compose.yml',
  obtain: startWithDocker,
};

function installedWithApt(apt: AptInstall): Way {
  return {
    name: (kind) => `a private server from Debian's package ${serverFacts[kind].aptPackage}`,
    async obtain(kind) {
      await apt.install(serverFacts[kind].aptPackage);
      const server = await startPrivately(kind);
      return { ...server, how: `installed with apt-get, ${server.how}` };
    },
  };
}

async function startPrivately(kind: ServerKind): Promise<ObtainedServer> {
  const server = await start(kind);
  const { url, version, port, origin } = server;
  return { kind, url, version, how: `started from ${origin} on 127.0.0.1:${port}`, stop: () => server.stop() };
}

function start(kind: ServerKind): Promise<PrivateServer> {
  switch (kind) {
    case 'mariadb':
      return startMariadb();
    case 'postgres':
      return startPostgres();
    case 'redis':
      return startRedis();
    case 'mysql':
      throw new Error('MySQL is never started: give its URL in RAINDROP_TEST_MYSQL_URL');
  }
}
