import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runOrThrow } from './run-or-throw.js';

interface Verdaccio {
  runServer(config: object): Promise<Server>;
}

/** A registry for our scope alone, on a free port of this host: verdaccio. All other packages come from where they do. */
export class LocalRegistry {
  private constructor(
    /** What npm has to be told: the settings of this host, with our scope from here. */
    readonly environment: Readonly<Record<string, string>>,
    private readonly server: Server,
  ) {}

  /** @param tools where verdaccio is installed */
  static async start(scope: string, tools: string, folder: string): Promise<LocalRegistry> {
    const { runServer } = createRequire(join(tools, 'package.json'))('verdaccio') as Verdaccio;
    mkdirSync(folder);
    const everybody = { access: '$all', publish: '$all', unpublish: '$all' };
    const server = await runServer({
      configPath: join(folder, 'config.yaml'),
      storage: join(folder, 'storage'),
      auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: -1 } },
      packages: { [`${scope}/*`]: everybody },
      web: { enable: false },
      log: { type: 'file', path: join(folder, 'log'), level: 'warn' },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    // A variable of npm's cannot name a scope, as shells drop it; a file can.
    const settings = (await runOrThrow('npm config get globalconfig', folder)).trim();
    const kept = existsSync(settings) ? readFileSync(settings, 'utf8') : '';
    const file = join(folder, 'npmrc');
    writeFileSync(file, `${kept}\n${scope}:registry=${url}\n`);
    return new LocalRegistry({ npm_config_globalconfig: file, npm_config_prefer_offline: 'true' }, server);
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
