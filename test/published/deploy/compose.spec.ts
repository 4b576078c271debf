import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { COMPOSE_PASSWORD, serverFacts } from '../../support/servers/server-kind.js';
import { imageEnvironment } from './dockerfile.js';
import { readData, readText } from './read-deployment.js';

interface ComposeService {
  readonly build?: string;
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: object;
}

const { services, volumes } = readData<{
  services: Readonly<Record<string, ComposeService>>;
  volumes: Readonly<Record<string, unknown>>;
}>('docker-compose.yml');

const { raindrop, mysql } = services;
const DOCKER_SERVER = readText('test/support/servers/docker-server.ts');

describe('docker-compose.yml', () => {
  it('starts the service and MySQL, and nothing else unless it is asked to', () => {
    const started = Object.keys(services).filter((name) => services[name]!.profiles === undefined);
    expect(started).toEqual(['raindrop', 'mysql']);
    expect(raindrop!.build).toBe('.');
  });

  it('leads the service to the database that it makes, once that is healthy', () => {
    const DATABASE_URL = raindrop!.environment!['DATABASE_URL']!.replace(/\$\{\w+:-(\w+)\}/, '$1');
    const { database, port } = readServiceConfig({ ...imageEnvironment(), ...raindrop!.environment, DATABASE_URL });
    const url = new URL((database as { url: string }).url);
    expect(url.protocol).toBe('mysql:');
    expect(Object.keys(services)).toContain(url.hostname);
    expect(url.pathname).toBe(`/${mysql!.environment!['MYSQL_DATABASE']}`);
    expect(raindrop!.depends_on).toEqual({ [url.hostname]: { condition: 'service_healthy' } });
    expect(mysql!.healthcheck).toBeDefined();
    expect(raindrop!.ports![0]).toMatch(new RegExp(`:${port}$`));
  });

  it('takes images by their digest', () => {
    const { raindrop: ours, ...others } = services;
    expect(ours!.image).toBe('raindrop-id-service');
    for (const { image } of Object.values(others)) expect(image).toMatch(/^\w+:[\d.]+@sha256:[\da-f]{64}$/);
  });

  it('refuses a client without a password', () => {
    const settings = Object.values(services).flatMap(({ environment }) => Object.entries(environment ?? {}));
    expect(settings.filter(([name, value]) => /EMPTY|AUTH_METHOD/.test(name) || value === '')).toEqual([]);
    expect(mysql!.environment).toMatchObject({ MYSQL_RANDOM_ROOT_PASSWORD: '1', MYSQL_USER: 'raindrop' });
    const { DATABASE_URL } = raindrop!.environment!;
    expect(DATABASE_URL).toContain(`//raindrop:${mysql!.environment!['MYSQL_PASSWORD']}@`);
    for (const [kind, name] of [
      ['mariadb', 'MARIADB_ROOT_PASSWORD'],
      ['postgres', 'POSTGRES_PASSWORD'],
    ] as const) {
      expect(services[kind]!.environment![name]).toBe(COMPOSE_PASSWORD);
    }
  });

  it('keeps the worker table', () => {
    const [volume] = mysql!.volumes![0]!.split(':');
    expect(Object.keys(volumes)).toContain(volume);
  });

  it('starts again what has ended, and gives the service no more rights than it needs', () => {
    expect(raindrop).toMatchObject({
      restart: 'unless-stopped',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(mysql).toMatchObject({ restart: 'unless-stopped' });
  });

  it('publishes every port to this machine only', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports).toHaveLength(Object.keys(services).length);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{RAINDROP_(\w+_)?PORT:-\d+\}:\d+$/);
  });

  it.each(['mariadb', 'postgres', 'redis'] as const)('has %s as the tests start it', (kind) => {
    const { profiles, ports, healthcheck } = services[kind]!;
    expect(profiles).toEqual(['test']);
    expect(ports![0]).toContain(`\${RAINDROP_${kind.toUpperCase()}_PORT:-${serverFacts[kind].usualPort}}`);
    expect(healthcheck).toBeDefined();
    // What has a profile that is not active is not taken down either.
    expect(DOCKER_SERVER).toContain("COMPOSE_PROFILES: 'test'");
  });
});
