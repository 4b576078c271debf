import { PermanentError } from '@raindrop/core/internal';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The supported versions of every package that an application may have or not. The manifests take any version (`*`), so
 * that npm installs Raindrop beside each of them; what uses the package checks its version when it is loaded.
 * docs/versions.md has the same ranges.
 */
export const SUPPORTED_PEERS = {
  '@mikro-orm/core': '^6.6.0 || ^7.2.0',
  '@mikro-orm/decorators': '^7.2.0',
  '@nats-io/kv': '^3.3.0',
  '@nats-io/transport-node': '^3.3.0',
  '@nestjs/swagger': '^7.0.0 || ^8.0.0 || ^11.0.0 || ^12.0.0',
  '@nestjs/terminus': '^11.0.0 || ^12.0.0',
  '@nestjs/typeorm': '^10.0.0 || ^11.0.0 || ^12.0.0',
  '@noble/ciphers': '^2.0.0',
  '@opentelemetry/api': '^1.9.0',
  '@prisma/client': '^7.4.0',
  'better-sqlite3': '^11.0.0 || ^12.0.0 || ^13.0.0',
  'class-transformer': '^0.5.1',
  'class-validator': '^0.14.0 || ^0.15.0',
  'drizzle-orm': '^0.41.0 || ^0.42.0 || ^0.43.0 || ^0.44.0 || ^0.45.0',
  graphql: '^16.0.0 || ^17.0.0',
  ioredis: '^5.0.0',
  kysely: '^0.28.0 || ^0.29.0',
  mysql2: '^3.0.0',
  pg: '^8.0.0',
  'reflect-metadata': '^0.1.13 || ^0.2.0',
  sequelize: '^6.37.0',
  typeorm: '^0.3.26 || ^1.0.0',
} as const;

/** The name of an optional package. */
type PeerName = keyof typeof SUPPORTED_PEERS;

/** A package that an application has is of a version that Raindrop does not work with. */
export class UnsupportedVersionError extends PermanentError {
  static override readonly name = 'UnsupportedVersionError';
  readonly errorCode = 'UNSUPPORTED_VERSION';
  /** The name of the package. */
  readonly package: string;
  /** The version that is installed. */
  readonly version: string;
  /** The versions that are supported, as a range of npm. */
  readonly supported: string;

  constructor(name: PeerName, version: string, folder: string) {
    const supported = SUPPORTED_PEERS[name];
    super(
      `${name} ${version} (${folder}) is not supported: Raindrop supports ${supported}. ` +
        `Run: npm install "${name}@${supported.split(' || ').at(-1)}"`,
    );
    this.package = name;
    this.version = version;
    this.supported = supported;
  }
}

/** The folders of newer packages that were reported. */
const warned = new Set<string>();

/**
 * Checks the version of a package before it is used. A newer one than those that were tried may work: it is reported by
 * one process warning. Nothing is checked where no version can be found, as in a bundle.
 * @param from the file that uses the package: `() => __filename`
 * @throws UnsupportedVersionError for an older version
 */
export function requireSupported(name: PeerName, from: () => string): void {
  const found = installedPeer(name, from);
  if (found === undefined) return;
  const { version, folder } = found;
  const verdict = judgeVersion(version, SUPPORTED_PEERS[name]);
  if (verdict === 'unsupported') throw new UnsupportedVersionError(name, version, folder);
  if (verdict === 'newer' && !warned.has(folder)) {
    warned.add(folder);
    process.emitWarning(
      `${name} ${version} (${folder}) is newer than what Raindrop was tested with: ${SUPPORTED_PEERS[name]}`,
      'RaindropWarning',
    );
  }
}

/**
 * Compares a version with a range: `newer` than all that it has, `unsupported` if it is older, or between.
 * @param supported one `^` range or several, in ascending order
 */
export function judgeVersion(version: string, supported: string): 'supported' | 'newer' | 'unsupported' {
  const given = numbersOf(version);
  const least = supported.split(' || ').map(numbersOf);
  // A range with ^ holds for a major version; below 1.0 for a minor one.
  const lineOf = ([major, minor]: Numbers): Numbers => (major > 0 ? [major, 0, 0] : [0, minor, 0]);
  const line = least.find((each) => compare(lineOf(each), lineOf(given)) === 0);
  if (line !== undefined) return compare(given, line) >= 0 ? 'supported' : 'unsupported';
  return compare(given, least.at(-1)!) > 0 ? 'newer' : 'unsupported';
}

type Numbers = readonly [major: number, minor: number, patch: number];

function numbersOf(version: string): Numbers {
  const [, major, minor, patch] = /^\^?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return [Number(major), Number(minor), Number(patch)];
}

function compare(one: Numbers, other: Numbers): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

/** Finds the package as Node does; without loading it, and although its `exports` may not have its package.json. */
function installedPeer(name: string, from: () => string): { version: string; folder: string } | undefined {
  try {
    const places = createRequire(from()).resolve.paths(name) ?? [];
    const manifest = places.map((place) => join(place, name, 'package.json')).find((path) => existsSync(path));
    if (manifest === undefined) return undefined;
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
    return { version, folder: dirname(manifest) };
  } catch {
    return undefined;
  }
}
