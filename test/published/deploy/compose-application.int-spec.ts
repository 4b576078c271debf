import { openIdService } from '@raindrop/node';
import { execForm } from './dockerfile.js';
import { raindropHere } from '../../product/cli/cli-in-process.js';
import { databaseUrl } from '../../product/service/service-process.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { blocksOf } from '../docs/documents.js';
import { readData, readText } from './read-deployment.js';

interface Application {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart: string;
  readonly stop_grace_period?: string;
}

const FILE = 'deploy/compose/compose.yaml';
const { services, volumes } = readData<{
  services: Readonly<Record<'app' | 'worker-table' | 'mysql', Application>>;
  volumes: Readonly<Record<string, unknown>>;
}>(FILE);
const { app, 'worker-table': init, mysql } = services;

/** The command of a service that is one of the raindrop command, without the program. */
function raindropArguments({ command }: Application): readonly string[] {
  const [program, ...args] = command!;
  const { bin } = readData<{ bin: Record<string, string> }>('libs/cli/package.json');
  expect(Object.keys(bin).map((name) => `node_modules/.bin/${name}`)).toContain(program);
  return args;
}

describe(FILE, () => {
  it('starts the application after the worker table, and that after the database', () => {
    expect(Object.keys(services)).toEqual(['app', 'worker-table', 'mysql']);
    expect(app.depends_on).toEqual({ 'worker-table': { condition: 'service_completed_successfully' } });
    expect(init.depends_on).toEqual({ mysql: { condition: 'service_healthy' } });
    expect(mysql.healthcheck).toBeDefined();
    expect([init.restart, app.restart, mysql.restart]).toEqual(['no', 'unless-stopped', 'unless-stopped']);
  });

  it('gives both the image and the database of the application', () => {
    expect([init.build, init.image, init.environment]).toEqual([app.build, app.image, app.environment]);
    const { protocol, username, hostname, pathname } = new URL(withPassword(app));
    expect([protocol, hostname]).toEqual(['mysql:', 'mysql']);
    expect([username, pathname]).toEqual([mysql.environment['MYSQL_USER'], `/${mysql.environment['MYSQL_DATABASE']}`]);
  });

  it('has no password of its own, and starts without one nowhere', () => {
    const password = mysql.environment['MYSQL_PASSWORD']!;
    expect(password).toMatch(/^\$\{MYSQL_PASSWORD:\?[^}]+\}$/);
    expect(app.environment['DATABASE_URL']).toContain(`:${password}@`);
    expect(mysql.environment['MYSQL_RANDOM_ROOT_PASSWORD']).toBe('1');
  });

  it('publishes the application to this machine only, and keeps the worker table', () => {
    expect(Object.values(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:${PORT:-3000}:3000']);
    expect(Object.keys(volumes)).toContain(mysql.volumes![0]!.split(':')[0]);
    expect(mysql.image).toBe(readData<{ services: { mysql: Application } }>('docker-compose.yml').services.mysql.image);
  });

  it('asks for the health that docs/health.md shows, as the image of the ID service does', () => {
    const [kind, ...command] = app.healthcheck!.test;
    expect(kind).toBe('CMD');
    expect(command).toEqual(
      execForm('HEALTHCHECK').map((each) => each.replace(/' \+ process\.env\.PORT \+ '/, '3000')),
    );
    const controller = blocksOf('docs/health.md').find(({ text }) => text.includes("@Controller('health')"))!.text;
    expect(controller).toContain("@Get('ready')");
  });

  it('leaves time to answer and to give the worker id back, as docs/operations.md says for Kubernetes', () => {
    const [, seconds] = /terminationGracePeriodSeconds: (\d+)/.exec(readText('docs/operations.md'))!;
    expect(app.stop_grace_period).toBe(`${seconds}s`);
  });

  it('creates a worker table on which the application starts; again, it changes nothing', async () => {
    const database = await testDatabase('mariadb');
    const DATABASE_URL = databaseUrl(database.options);
    const before = process.env['DATABASE_URL'];
    // The variables of the service, with the database of the test.
    expect(Object.keys(init.environment)).toEqual(['DATABASE_URL']);
    process.env['DATABASE_URL'] = DATABASE_URL;
    try {
      for (const rows of ['1023 rows', '1023 rows']) {
        const { code, stdout } = await raindropHere(raindropArguments(init));
        expect([code, stdout]).toEqual([0, expect.stringContaining(rows)]);
      }
      const ids = await openIdService({ dbConfig: DATABASE_URL, autoCreateTable: false });
      expect(ids.nextString()).toMatch(/^\d{17}$/);
      await ids.close();
    } finally {
      if (before === undefined) delete process.env['DATABASE_URL'];
      else process.env['DATABASE_URL'] = before;
      await database.drop();
    }
  });
});

/** The URL of a service's database, with the password that the operator sets. */
function withPassword({ environment }: Application): string {
  return environment['DATABASE_URL']!.replace(/\$\{MYSQL_PASSWORD:[^}]*\}/, 'change-me');
}
