import { AptInstall } from '../../support/servers/apt-install.js';
import type { SqlServerKind } from '../../support/servers/database-admin.js';
import { obtainServer, type ObtainedServer } from '../../support/servers/obtain-server.js';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { startMariadb, startPostgres } from '../../support/servers/private-servers.js';
import { testDatabase, type DatabaseKind, type TestDatabase } from '../../support/servers/test-databases.js';
import { waysTo } from '../../support/servers/ways.js';
import { isServer, isStartable, type Bench, type StartableKind } from './figure.js';

/** Servers found or started when they are first asked for. */
export class RealBench implements Bench {
  private readonly found = new Map<SqlServerKind, Promise<ObtainedServer>>();
  private readonly own = new Map<StartableKind, Promise<PrivateServer>>();
  private readonly databases: TestDatabase[] = [];

  constructor(readonly kinds: readonly DatabaseKind[]) {}

  async database(kind: DatabaseKind): Promise<TestDatabase> {
    return this.keep(await testDatabase(kind, isServer(kind) ? (await this.server(kind)).url : undefined));
  }

  ownServer(kind: StartableKind): Promise<PrivateServer> {
    const server = this.own.get(kind) ?? (kind === 'mariadb' ? startMariadb() : startPostgres());
    this.own.set(kind, server);
    return server;
  }

  async ownDatabase(kind: DatabaseKind): Promise<TestDatabase> {
    if (!isStartable(kind)) return this.database(kind);
    return this.keep(await testDatabase(kind, (await this.ownServer(kind)).url));
  }

  /** Leaves nothing behind. */
  async close(): Promise<void> {
    await Promise.allSettled(this.databases.map((database) => database.drop()));
    const own = [...this.own.values()].map(async (server) => (await server).stop());
    const found = [...this.found.values()].map(async (server) => (await server).stop?.());
    await Promise.allSettled([...own, ...found]);
  }

  private server(kind: SqlServerKind): Promise<ObtainedServer> {
    const server = this.found.get(kind) ?? obtainServer(kind, waysTo(kind, process.env, new AptInstall()));
    this.found.set(kind, server);
    return server;
  }

  private keep(database: TestDatabase): TestDatabase {
    this.databases.push(database);
    return database;
  }
}
