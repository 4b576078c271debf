import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { runCommand } from './run-command';

const INSTALL_MS = 600_000;
const POLICY_FILE = '/usr/sbin/policy-rc.d';

/**
 * Installs Debian packages without starting their services: the harness runs private servers and leaves none behind.
 * One at a time and with one `apt-get update`, since dpkg takes a lock.
 */
export class AptInstall {
  private queue: Promise<unknown> = Promise.resolve();

  private updated = false;

  /** How long installing took, all together. */
  installedMs = 0;

  /** @throws Error when this is no Debian, we are not root, or apt-get fails. */
  install(packageName: string): Promise<void> {
    if (process.getuid?.() !== 0) {
      return Promise.reject(new Error('not tried: only root can install packages'));
    }
    if (!existsSync('/usr/bin/apt-get')) {
      return Promise.reject(new Error('not tried: this system has no apt-get'));
    }
    const turn = this.queue.then(() => this.installNow(packageName));
    this.queue = turn.catch(() => undefined);
    return turn;
  }

  private async installNow(packageName: string): Promise<void> {
    const options = { withinMs: INSTALL_MS, environment: { DEBIAN_FRONTEND: 'noninteractive' } };
    const began = performance.now();
    process.stderr.write(`installing ${packageName} with apt-get\n`);
    if (!this.updated) {
      await runCommand('apt-get', ['update', '-qq'], options);
      this.updated = true;
    }
    const forbids = forbidServiceStart();
    try {
      const waiting = ['-o', 'DPkg::Lock::Timeout=300'];
      await runCommand(
        'apt-get',
        ['install', '-y', '-qq', '--no-install-recommends', ...waiting, packageName],
        options,
      );
    } finally {
      this.installedMs += performance.now() - began;
      if (forbids) {
        rmSync(POLICY_FILE, { force: true });
      }
    }
  }
}

/** Debian asks this script before a package starts its service; 101 is "no". An existing one is left as it is. */
function forbidServiceStart(): boolean {
  if (existsSync(POLICY_FILE)) {
    return false;
  }
  writeFileSync(POLICY_FILE, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  return true;
}
