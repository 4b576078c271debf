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
  '@prisma/orm-postgres': '^8.0.0-rc.13',
  '@prisma/orm-sqlite': '^8.0.0-rc.13',
  'better-sqlite3': '^11.0.0 || ^12.0.0 || ^13.0.0',
  'class-transformer': '^0.5.1',
  'class-validator': '^0.14.0 || ^0.15.0',
  'drizzle-orm': '^0.41.0 || ^0.42.0 || ^0.43.0 || ^0.44.0 || ^0.45.0 || ^1.0.0-rc.5',
  graphql: '^16.0.0 || ^17.0.0',
  ioredis: '^5.0.0',
  kysely: '^0.28.0 || ^0.29.0',
  mysql2: '^3.0.0',
  pg: '^8.0.0',
  'reflect-metadata': '^0.1.13 || ^0.2.0',
  sequelize: '^6.37.0',
  typeorm: '^0.3.26 || ^1.0.0',
  zod: '^4.4.0',
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
    const range = isPrerelease(versionOf(version)) ? supported.split(' || ').at(-1)! : lastRelease(supported);
    super(
      `${name} ${version} (${folder}) is not supported: Raindrop supports ${supported}. ` +
        `Run: npm install "${name}@${range}"`,
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
 * Compares a version with a range: `newer` than the last release that it has, `unsupported` if it is older, or between.
 * As npm has it, a prerelease comes before its release, and a range has only those of the version that it names.
 * @param supported one `^` range or several, in ascending order
 */
export function judgeVersion(version: string, supported: string): 'supported' | 'newer' | 'unsupported' {
  const given = versionOf(version);
  const line = supported
    .split(' || ')
    .map(versionOf)
    .find((each) => compareNumbers(lineOf(each), lineOf(given)) === 0);
  if (line === undefined) return compare(given, versionOf(lastRelease(supported))) > 0 ? 'newer' : 'unsupported';
  if (compare(given, line) < 0) return 'unsupported';
  return isPrerelease(given) && compareNumbers(given.numbers, line.numbers) !== 0 ? 'newer' : 'supported';
}

/** The last range that does not begin with a prerelease. */
function lastRelease(supported: string): string {
  return supported
    .split(' || ')
    .filter((range) => !isPrerelease(versionOf(range)))
    .at(-1)!;
}

interface Version {
  readonly numbers: Numbers;
  /** What follows the hyphen: `rc` and `5` of 1.0.0-rc.5, and nothing of a release. */
  readonly prerelease: readonly string[];
}

type Numbers = readonly [major: number, minor: number, patch: number];

const VERSION = /^\^?(\d+)\.(\d+)\.(\d+)(?:-([^+]+))?/;

function versionOf(text: string): Version {
  const [, major, minor, patch, prerelease] = VERSION.exec(text) ?? [];
  return { numbers: [Number(major), Number(minor), Number(patch)], prerelease: prerelease?.split('.') ?? [] };
}

function isPrerelease({ prerelease }: Version): boolean {
  return prerelease.length > 0;
}

/** A range with ^ holds for a major version; below 1.0 for a minor one. */
function lineOf({ numbers: [major, minor] }: Version): Numbers {
  return major > 0 ? [major, 0, 0] : [0, minor, 0];
}

function compare(one: Version, other: Version): number {
  const numbers = compareNumbers(one.numbers, other.numbers);
  if (numbers !== 0) return numbers;
  if (!isPrerelease(one) || !isPrerelease(other)) return Number(isPrerelease(other)) - Number(isPrerelease(one));
  const at = one.prerelease.findIndex((part, index) => part !== other.prerelease[index]);
  if (at < 0) return one.prerelease.length - other.prerelease.length;
  return comparePart(one.prerelease[at]!, other.prerelease[at]);
}

function compareNumbers(one: Numbers, other: Numbers): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

/** A number comes before a word, and no part before any. */
function comparePart(one: string, other: string | undefined): number {
  if (other === undefined) return 1;
  const [isNumber, isOtherNumber] = [one, other].map((part) => /^\d+$/.test(part));
  if (isNumber !== isOtherNumber) return isNumber === true ? -1 : 1;
  return isNumber === true ? Number(one) - Number(other) : one < other ? -1 : 1;
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
