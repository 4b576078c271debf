import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENTS, allBlocks, placeOf } from './documents.js';
import { commandsOf, isShell, shellCommands } from './shell-commands.js';
import { SHELL_RULES, ruleOf, shellPlaceOf, type ShellPlace } from './shell-places.js';

const ROOT = join(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const COMMANDS = shellCommands();
const ofPlace = (by: ShellPlace['by']) => COMMANDS.filter((each) => shellPlaceOf(each)?.by === by);

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: object;
  readonly devDependencies?: object;
  readonly peerDependencies?: object;
}
const manifest = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json'))) as Manifest;

describe('Every command of every document', () => {
  it('has somebody who runs it, or a reason', () => {
    expect(COMMANDS.length).toBeGreaterThan(70);
    const lost = COMMANDS.filter((each) => shellPlaceOf(each) === undefined);
    expect(lost.map(({ place, command }) => `${place}: ${command}`)).toEqual([]);
    const rules = COMMANDS.map(({ document, command }) => ruleOf(document, command));
    expect(SHELL_RULES.filter((rule) => !rules.includes(rule))).toEqual([]);
  });

  it('is one that the shell can read', () => {
    for (const { place, command } of COMMANDS) {
      const { stderr } = spawnSync('bash', ['-n'], { input: command, encoding: 'utf8' });
      expect([place, stderr]).toEqual([place, '']);
    }
  });

  it('stands in a block that is known as one of the shell', () => {
    const others = allBlocks('text', '').filter((block) => !isShell(block));
    const looks = /^(\$|curl|docker|export|git|kubectl|mkdir|cd|node|npm|npx|raindrop|sh|psql|mysql)\b/m;
    expect(others.filter(({ text }) => looks.test(text)).map(placeOf)).toEqual([]);
    expect(allBlocks('').map(placeOf)).toEqual([]);
  });
});

describe('What others run', () => {
  it('is run by tests that read the document', () => {
    for (const { document, ...each } of COMMANDS) {
      const place = shellPlaceOf({ document, ...each });
      if (place?.by === 'guide') expect(read(place.test)).toContain(`'${document}'`);
    }
  });

  it('is run by the clean room of CI', () => {
    const room = read('.ci/clean-room');
    for (const { command } of ofPlace('clean room')) {
      const [, script] = /^npm ci && npm (\w+)/.exec(command)!;
      expect(room).toContain(`readme_command ${script})`);
    }
    expect(read('.ci/nightly')).toContain('.ci/clean-room');
  });

  it('is of tests that exist', () => {
    const tests = ['libs', 'test'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => /spec\.ts$/.test(path) && !path.includes('node_modules'))
        .map((path) => `${folder}/${path}`),
    );
    for (const path of ofPlace('tests').flatMap(({ command }) => command.split(' ').slice(2))) {
      expect([path, tests.filter((test) => test.startsWith(path)).length]).not.toEqual([path, 0]);
    }
  });

  it('fetches packages that are ours, or that ours work with', () => {
    const known = [
      '.',
      'libs/core',
      'libs/node',
      'libs/typeorm',
      'libs/orm',
      'libs/nestjs',
      'libs/cli',
      'test/orms/mikro-orm',
      'test/orms/prisma',
      'test/orms/prisma-8',
      'test/orms/sequelize',
    ]
      .map(manifest)
      .flatMap((each) => [
        ...Object.keys({ ...each.dependencies, ...each.devDependencies, ...each.peerDependencies }),
        (each as unknown as { name: string }).name,
      ])
      // test/published/packaging/check-peers.mjs installs it, for the command.
      .concat('@typescript/typescript6')
      // Of docs/drizzle.md, tried by hand.
      .concat('drizzle-kit');
    const words = ofPlace('packages').flatMap(({ command }) => command.split(' ').slice(2));
    const fetched = words.filter((word) => !word.startsWith('--')).map((word) => word.replace(/(.)@[^@/]*$/, '$1'));
    expect(fetched.filter((name) => !known.includes(name))).toEqual([]);
    expect(fetched.length).toBeGreaterThan(15);
  });
});

describe('In the text', () => {
  it('every script that is named exists', () => {
    // The last one is of the application that docs/migration.md shows.
    const scripts = [...Object.keys(manifest('.').scripts), 'migration:run'];
    const named = DOCUMENTS.flatMap((document) => [...read(document).matchAll(/\bnpm run ([\w:]+)/g)]);
    expect(named.map(([, name]) => name!).filter((name) => !scripts.includes(name))).toEqual([]);
  });
});

it('commands, their continued lines and their answers are told apart', () => {
  const block = { document: 'a.md', line: 3, language: 'sh' };
  expect(commandsOf({ ...block, text: 'a --b \\\n  c\n# {"d":1}\n# e\n\nf # g\n' })).toEqual([
    { document: 'a.md', place: 'a.md:3', command: 'a --b c', answer: '{"d":1}\ne' },
    { document: 'a.md', place: 'a.md:3', command: 'f # g', answer: '' },
  ]);
  expect(commandsOf({ ...block, language: 'text', text: '$ a\nb\n\n$ c\n' })).toEqual([
    { document: 'a.md', place: 'a.md:3', command: 'a', answer: 'b' },
    { document: 'a.md', place: 'a.md:3', command: 'c', answer: '' },
  ]);
});
