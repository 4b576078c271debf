import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { freePort } from './free-port';
import { ObtainedServer } from './obtain-server';
import { probeServer } from './probe-server';
import { runCommand } from './run-command';
import { COMPOSE_PASSWORD, localUrl, ServerKind } from './server-kind';

const COMPOSE_FILE = resolve(__dirname, '../../../docker-compose.yml');
const ENGINE_MS = 10_000;
/** Leaves time to pull the image. */
const UP_MS = 300_000;
const DOWN_MS = 60_000;

/**
 * Starts one service of docker-compose.yml as a project of its own on a free port, so that neither a second run nor
 * the developer's own `docker compose up` is touched.
 *
 * @throws Error when no engine answers, Compose is missing, or the service does not become healthy.
 */
export async function startWithDocker(kind: ServerKind): Promise<ObtainedServer> {
  await runCommand('docker', ['info', '--format', '{{.ServerVersion}}'], { withinMs: ENGINE_MS });
  await runCommand('docker', ['compose', 'version'], { withinMs: ENGINE_MS });

  const port = await freePort();
  const project = `raindrop-test-${randomBytes(4).toString('hex')}`;
  // Without the profile `down` would leave the container behind: https://docs.docker.com/compose/how-tos/profiles/
  const environment = { COMPOSE_PROFILES: 'test', [`RAINDROP_${kind.toUpperCase()}_PORT`]: String(port) };
  const compose = (args: string[], withinMs: number): Promise<string> => {
    const all = ['compose', '--project-name', project, '--file', COMPOSE_FILE, ...args];
    return runCommand('docker', all, { environment, withinMs });
  };
  const stop = async (): Promise<void> => {
    await compose(['down', '--volumes'], DOWN_MS);
  };

  try {
    await compose(['up', '--detach', '--wait', kind], UP_MS);
    const url = localUrl(kind, port, COMPOSE_PASSWORD);
    const version = await probeServer(kind, url);
    return { kind, url, version, how: `started with docker compose on 127.0.0.1:${port}`, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}
