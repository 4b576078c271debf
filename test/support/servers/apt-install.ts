import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
    return this.inTurn(() => this.installNow(packageName));
  }

  /**
   * The file of a package of any Debian, from where this one has its own, into a folder; nothing is installed.
   * @throws Error as {@link install}
   */
  download(packageName: string, suite: string, folder: string): Promise<string> {
    return this.inTurn(() => this.downloadNow(packageName, suite, folder));
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (process.getuid?.() !== 0) throw new Error('not tried: only root can install packages');
    if (!existsSync('/usr/bin/apt-get')) throw new Error('not tried: this system has no apt-get');
    const turn = this.queue.then(work);
    this.queue = turn.catch(() => undefined);
    return turn;
  }

  private async downloadNow(packageName: string, suite: string, folder: string): Promise<string> {
    const began = performance.now();
    process.stderr.write(`fetching ${packageName} of ${suite} with apt-get\n`);
    const [sources, lists] = [join(folder, 'sources.list'), join(folder, 'lists')];
    mkdirSync(join(lists, 'partial'), { recursive: true });
    writeFileSync(sources, `deb ${debianMirror()} ${suite} main\n`);
    const places = {
      'Dir::Etc::SourceParts': '/dev/null',
      'Dir::Etc::SourceList': sources,
      'Dir::State::Lists': lists,
    };
    const options = ['-qq', ...Object.entries(places).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
    try {
      await runCommand('apt-get', [...options, 'update'], { withinMs: INSTALL_MS });
      await runCommand('apt-get', [...options, 'download', packageName], { withinMs: INSTALL_MS, cwd: folder });
    } finally {
      this.installedMs += performance.now() - began;
    }
    const file = readdirSync(folder).find((name) => name.startsWith(`${packageName}_`) && name.endsWith('.deb'));
    if (file === undefined) throw new Error(`apt-get brought no ${packageName}`);
    return join(folder, file);
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

/** Where this Debian has its packages from. */
function debianMirror(): string {
  const folder = '/etc/apt/sources.list.d';
  const files = [
    '/etc/apt/sources.list',
    ...(existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []),
  ];
  const text = files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')).join('\n');
  const mirrors = [...text.matchAll(/^(?:URIs:\s*|deb\s+(?:\[[^\]]*\]\s*)?)(\S+)/gm)].map(([, url]) => url!);
  const mirror = mirrors.find((url) => /\/debian\/?$/.test(url));
  if (mirror === undefined) throw new Error('not tried: no mirror of Debian is named in /etc/apt');
  return mirror;
}
