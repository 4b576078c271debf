import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AptInstall } from './apt-install';
import { findProgram } from './find-program';
import { runCommand } from './run-command';

/** Of Debian 13: what Debian 12 has is older than the product takes. */
const SUITE = 'trixie';
const FOLDER = join(__dirname, '../../../node_modules', '.cache', 'raindrop', `nats-server-${SUITE}`);
const IN_FOLDER = join(FOLDER, 'usr', 'sbin', 'nats-server');
const UNPACK_MS = 30_000;

export function hasNats(): boolean {
  return existsSync(IN_FOLDER);
}

/** Fetches the server and installs nothing: it stays in a folder of this clone. */
export async function fetchNats(apt: AptInstall): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const file = await apt.download('nats-server', SUITE, FOLDER);
  await runCommand('dpkg-deb', ['-x', file, FOLDER], { withinMs: UNPACK_MS });
}

/** @throws MissingForTests where it could not be fetched */
export function natsProgram(): string {
  return findProgram('nats-server', [join(FOLDER, 'usr', 'sbin')]);
}
