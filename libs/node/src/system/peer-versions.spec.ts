import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { judgeVersion, requireSupported, SUPPORTED_PEERS, UnsupportedVersionError } from './peer-versions.js';

const ROOT = resolve(__dirname, '../../../..');
const LIBRARIES = readdirSync(join(ROOT, 'libs'));

interface Manifest {
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

it.each([
  ['0.28.0', '^0.28.0 || ^0.29.0', 'supported'],
  ['0.29.9', '^0.28.0 || ^0.29.0', 'supported'],
  ['0.27.6', '^0.28.0 || ^0.29.0', 'unsupported'],
  ['0.30.0', '^0.28.0 || ^0.29.0', 'newer'],
  ['1.0.0-beta.2', '^0.28.0 || ^0.29.0', 'newer'],
  ['0.3.20', '^0.3.26 || ^1.0.0', 'unsupported'],
  ['0.3.26', '^0.3.26 || ^1.0.0', 'supported'],
  ['0.4.0', '^0.3.26 || ^1.0.0', 'unsupported'],
  ['1.9.4', '^0.3.26 || ^1.0.0', 'supported'],
  ['5.9.8', '^6.6.0 || ^7.2.0', 'unsupported'],
  ['6.6.0', '^6.6.0 || ^7.2.0', 'supported'],
  ['7.1.9', '^6.6.0 || ^7.2.0', 'unsupported'],
  ['8.0.0', '^6.6.0 || ^7.2.0', 'newer'],
  ['10.0.0', '^8.0.0 || ^11.0.0', 'unsupported'],
  // A prerelease comes before its release, and each of its numbers counts.
  ['7.2.0-rc.1', '^6.6.0 || ^7.2.0', 'unsupported'],
  ['8.0.0-rc.1', '^6.6.0 || ^7.2.0', 'newer'],
  ['1.0.0-beta.22', '^0.45.0 || ^1.0.0-rc.5', 'unsupported'],
  ['1.0.0-rc', '^0.45.0 || ^1.0.0-rc.5', 'unsupported'],
  ['1.0.0-rc.4', '^0.45.0 || ^1.0.0-rc.5', 'unsupported'],
  ['1.0.0-rc.5', '^0.45.0 || ^1.0.0-rc.5', 'supported'],
  // A word follows every number.
  ['1.0.0-rc.5-1a2b3c4', '^0.45.0 || ^1.0.0-rc.5', 'supported'],
  ['1.0.0-rc.10+build.1', '^0.45.0 || ^1.0.0-rc.5', 'supported'],
  ['1.0.0', '^0.45.0 || ^1.0.0-rc.5', 'supported'],
  ['1.4.2', '^0.45.0 || ^1.0.0-rc.5', 'supported'],
  // As npm has it: a range takes the prereleases of the release that it names, and no others.
  ['1.1.0-beta.1', '^0.45.0 || ^1.0.0-rc.5', 'newer'],
  ['2.0.0-alpha.1', '^0.45.0 || ^1.0.0-rc.5', 'newer'],
  // What follows the last release is used, whichever prerelease is supported.
  ['0.45.9', '^0.45.0 || ^1.0.0-rc.5', 'supported'],
  ['0.46.0', '^0.45.0 || ^1.0.0-rc.5', 'newer'],
  ['0.44.7', '^0.45.0 || ^1.0.0-rc.5', 'unsupported'],
])('%s is for %s: %s', (version, supported, verdict) => {
  expect(judgeVersion(version, supported)).toBe(verdict);
});

describe('an installed package', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raindrop-peers-')));
  const from = (): string => join(folder, 'node_modules/@raindrop/orm/dist/kysely.js');

  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => jest.restoreAllMocks());

  const install = (version: string): void => {
    const place = join(folder, 'node_modules/kysely');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'kysely', version, exports: './index.js' }));
  };

  it('is refused by one line with the version, its place, the supported ones and the cure', () => {
    install('0.27.6');
    const refused = expect.objectContaining({
      errorCode: 'UNSUPPORTED_VERSION',
      retryable: false,
      package: 'kysely',
      version: '0.27.6',
      supported: SUPPORTED_PEERS.kysely,
      message:
        `kysely 0.27.6 (${folder}/node_modules/kysely) is not supported: Raindrop supports ^0.28.0 || ^0.29.0. ` +
        `Run: npm install "kysely@^0.29.0"`,
    }) as UnsupportedVersionError;
    expect(() => requireSupported('kysely', from)).toThrow(refused);
  });

  it.each([
    ['0.40.1', '^0.45.0'],
    ['1.0.0-beta.2', '^1.0.0-rc.5'],
  ])('of the version %s is told the release, or the later prerelease of its own: %s', (version, range) => {
    const { message } = new UnsupportedVersionError('drizzle-orm', version, folder);
    expect(message).toContain(`Run: npm install "drizzle-orm@${range}"`);
  });

  it('is warned of when it is newer than what was tested, and used', () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    install('0.30.1');
    requireSupported('kysely', from);
    expect(warned.mock.calls).toEqual([
      [
        `kysely 0.30.1 (${folder}/node_modules/kysely) is newer than what Raindrop was tested with: ^0.28.0 || ^0.29.0`,
        'RaindropWarning',
      ],
    ]);
  });

  it('is used without a word when it is supported, or when nothing is found', () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    install('0.29.9');
    requireSupported('kysely', from);
    requireSupported('sequelize', from);
    requireSupported('kysely', () => {
      throw new ReferenceError('__filename is not defined');
    });
    expect(warned).not.toHaveBeenCalled();
  });
});

describe('an optional peer', () => {
  const optional = LIBRARIES.flatMap((library) => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = JSON.parse(
      readFileSync(join(ROOT, 'libs', library, 'package.json'), 'utf8'),
    ) as Manifest;
    return Object.keys(peerDependenciesMeta).map((name) => ({ library, name, range: peerDependencies[name] }));
  });

  it('may have any version, so that npm installs Raindrop beside it', () => {
    expect(optional.length).toBeGreaterThan(20);
    expect(optional.filter(({ range }) => range !== '*')).toEqual([]);
  });

  it('has supported versions, which docs/versions.md tells, and is checked where it is used', () => {
    // The command looks for TypeScript itself.
    const names = [...new Set(optional.map(({ name }) => name))].filter((name) => name !== 'typescript').sort();
    expect(Object.keys(SUPPORTED_PEERS).sort()).toEqual(names);
    const versions = readFileSync(join(ROOT, 'docs/versions.md'), 'utf8');
    const rows = Object.entries(SUPPORTED_PEERS).map(
      ([name, range]) => `\n| \`${name}\` | \`${range.replaceAll('|', '\\|')}\` |`,
    );
    expect(rows.filter((row) => !versions.includes(row))).toEqual([]);
    const sources = LIBRARIES.flatMap((library) =>
      readdirSync(join(ROOT, 'libs', library, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((path) => /(?<!spec)\.ts$/.test(path))
        .map((path) => readFileSync(join(ROOT, 'libs', library, 'src', path), 'utf8')),
    ).join('');
    expect(names.filter((name) => !sources.includes(`requireSupported('${name}', `))).toEqual([]);
  });
});
