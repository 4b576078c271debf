import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerCopy, otherCopies, describeCopies } from './package-copies.js';

const NAME = '@raindrop/of-a-test';
const folders: string[] = [];

function installed(version: string, name = NAME): string {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-copy-'));
  folders.push(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }));
  return folder;
}

afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

it('copies of a package know one another, with their versions and places', () => {
  const [one, two] = [installed('1.0.0'), installed('2.0.0')];
  const own = registerCopy(NAME, () => one, {});
  expect(otherCopies(NAME, own)).toEqual([]);
  const other = registerCopy(NAME, () => two, { more: 1 })!;
  expect(otherCopies(NAME, own)).toEqual([{ version: '2.0.0', path: two, more: 1 }]);
  const told = describeCopies(NAME, [own!, other]);
  for (const each of [one, '1.0.0', two, '2.0.0', `npm ls ${NAME}`, 'npm dedupe']) expect(told).toContain(each);
});

it('one that is loaded twice from one place, as jest and hot reload do, is one', () => {
  const name = `${NAME}-reloaded`;
  const folder = installed('1.0.0', name);
  const first = registerCopy(name, () => folder, {});
  expect(
    otherCopies(
      name,
      registerCopy(name, () => folder, {}),
    ),
  ).toEqual([]);
  expect(otherCopies(name, first)).toEqual([]);
});

it.each<[string, () => string]>([
  ['there is no package.json', () => join(tmpdir(), 'raindrop-has-no-such-folder')],
  ['it is that of the application', () => installed('1.0.0', 'shop')],
  [
    'a bundle knows no folder',
    () => {
      throw new ReferenceError('__dirname is not defined');
    },
  ],
])('nothing is noted where %s', (_, folder) => {
  const name = `${NAME}-unknown`;
  const own = registerCopy(name, folder, {});
  expect(own).toBeUndefined();
  expect(otherCopies(name, own)).toEqual([]);
});
