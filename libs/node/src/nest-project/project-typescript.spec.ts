import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { InputError } from './input-error.js';
import { projectTypescript } from './project-typescript.js';

const INSTALLED = dirname(require.resolve('typescript/package.json'));

describe('TypeScript for an application', () => {
  let root: string;
  let places: string[];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'raindrop-typescript-'));
    places = [join(root, 'application'), join(root, 'command')];
  });

  afterEach(() => rmSync(root, { recursive: true }));

  /** What npm would install: the TypeScript of this repository, or one that has no API. */
  function install(place: string, name: string, hasApi: boolean): void {
    const folder = join(place, 'node_modules', name);
    mkdirSync(dirname(folder), { recursive: true });
    if (hasApi) return symlinkSync(INSTALLED, folder);
    mkdirSync(folder);
    writeFileSync(join(folder, 'index.js'), 'exports.version = "7.0.2";');
  }

  it.each([
    ['the one of the application', 0, 'typescript'],
    ['that of 6 beside another', 0, '@typescript/typescript6'],
    ['the one of the command', 1, 'typescript'],
    ['that of 6 beside the command', 1, '@typescript/typescript6'],
  ])('is %s', (_, place, name) => {
    for (const each of places) if (name !== 'typescript') install(each, 'typescript', false);
    install(places[place]!, name, true);
    expect(typeof projectTypescript(places[0]!, places).createSourceFile).toBe('function');
  });

  it('is that of the command where the application has one without an API', () => {
    install(places[0]!, 'typescript', false);
    install(places[1]!, 'typescript', true);
    expect(typeof projectTypescript(places[0]!, places).createSourceFile).toBe('function');
  });

  it.each([
    [
      'none is there',
      undefined,
      'is read with TypeScript 5 or 6, which is not installed: npm install --save-dev typescript@6',
    ],
    [
      'only one without an API is there',
      '7.0.2',
      'has TypeScript 7.0.2, which has no API for other programs. Install that of 6 beside it: ' +
        'npm install --save-dev @typescript/typescript6',
    ],
  ])('is asked for in one line where %s', (_, version, line) => {
    const [application] = places;
    if (version !== undefined) install(application!, 'typescript', false);
    const look = (): unknown => projectTypescript(application!, places);
    expect(look).toThrow(InputError);
    expect(look).toThrow(new InputError(`--project ${application} ${line}`));
  });
});
