import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const HOOK = resolve(__dirname, '../../typescript-hook.cjs');

/** The packages, ours and others', that a process has loaded after importing an entry. */
function loadedBy(entry: string): string[] {
  const script =
    `require('${entry}');` +
    `const names = Object.keys(require.cache).map((file) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(file)?.[1] ?? ` +
    `/libs\\/(\\w+)\\/src/.exec(file)?.[1]);` +
    `console.log(JSON.stringify([...new Set(names)].filter(Boolean)));`;
  const output = execFileSync(process.execPath, ['--require', HOOK, '-e', script], { encoding: 'utf8' });
  return (JSON.parse(output) as string[]).filter((name) => !name.startsWith('@swc/')).sort();
}

it.each([
  ['@raindrop/core', ['core']],
  ['@raindrop/node', ['core', 'node']],
  ['@raindrop/node/testing', ['core', 'node']],
  ['@raindrop/node/threads', ['core', 'node']],
])('%s loads nothing but %p', (entry, packages) => {
  expect(loadedBy(entry)).toEqual(packages);
});

it('@raindrop/nestjs loads Nest, and neither TypeORM nor a driver', () => {
  const loaded = loadedBy('@raindrop/nestjs');
  expect(loaded).toContain('@nestjs/common');
  expect(loaded).not.toContain('typeorm');
  expect(loaded.filter((name) => /typeorm|^pg$|^mysql2$|^better-sqlite3$|^ioredis$/.test(name))).toEqual([]);
});

it('@raindrop/typeorm loads TypeORM and no Nest', () => {
  const loaded = loadedBy('@raindrop/typeorm');
  expect(loaded).toContain('typeorm');
  expect(loaded.filter((name) => name.startsWith('@nestjs/'))).toEqual([]);
});
