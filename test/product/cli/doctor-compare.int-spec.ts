import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { databaseUrl } from '../service/service-process.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { jsonHere, raindropHere } from './cli-in-process.js';

interface Findings {
  readonly state: string;
  readonly findings: readonly { readonly check: string; readonly detail: string }[];
}

/** A way to the same database that looks like another one. */
function detourOf(url: string): string {
  if (!url.startsWith('sqlite:')) return url.replace('127.0.0.1', 'localhost');
  const file = url.slice('sqlite:'.length);
  const link = join(dirname(file), 'link.sqlite');
  symlinkSync(file, link);
  return `sqlite:${link}`;
}

describe.each(databaseKinds)('raindrop doctor with two URLs on %s', (kind) => {
  let databases: readonly TestDatabase[];
  let urls: readonly string[];

  beforeEach(async () => {
    databases = [await testDatabase(kind), await testDatabase(kind)];
    urls = databases.map(({ options }) => databaseUrl(options));
  });

  afterEach(async () => {
    for (const database of databases) await database.drop();
  });

  const compare = async (...args: string[]): Promise<[code: number | null, state: string, detail: string]> => {
    const { code, result } = await jsonHere<Findings>(['doctor', ...urls.flatMap((url) => ['--url', url]), ...args]);
    return [code, result.state, result.findings.map(({ detail }) => detail).join('; ')];
  };
  const initialize = async (index: number, ...args: string[]): Promise<void> => {
    expect(await raindropHere(['next', '--url', urls[index]!, ...args])).toMatchObject({ code: 0 });
  };

  it('finds two tables with the default options, by the first look and after they have served', async () => {
    const both = expect.stringContaining('both have workers 1-1023 of the layout') as string;
    for (const command of ['init', 'next']) {
      for (const url of urls) expect(await raindropHere([command, '--url', url])).toMatchObject({ code: 0 });
      expect(await compare()).toEqual([1, 'fail', both]);
    }
    const { stdout } = await raindropHere(['doctor', ...urls.flatMap((url) => ['--url', url])]);
    expect(stdout.split('\n')[0]).toMatch(/^fail +equal IDs +.* can give the same ID: both have/);
    expect(stdout).not.toMatch(/\/\/\w+:\w+@/);
  });

  it('accepts ranges of worker ids and end bits that differ', async () => {
    await initialize(0, '--max-worker', '511');
    await initialize(1, '--min-worker', '512', '--max-worker', '1023');
    expect(await compare()).toEqual([0, 'ok', expect.stringContaining('no ID is given twice') as string]);
    const bits = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '10', '--end-bits', '1'];
    for (const index of [0, 1]) await initialize(index, ...bits, '--end-value', `${index}`, '--table', 'ids');
    expect(await compare('--table', 'ids')).toEqual([0, 'ok', expect.stringContaining('no ID') as string]);
  });

  it('recognises one table at two URLs', async () => {
    await initialize(0);
    urls = [urls[0]!, detourOf(urls[0]!)];
    expect(await compare()).toEqual([0, 'ok', expect.stringContaining('are one table') as string]);
  });

  it('says which table it cannot read', async () => {
    await initialize(0);
    expect(await compare()).toEqual([1, 'fail', expect.stringContaining(urls[1]!.split('/').at(-1)!) as string]);
    expect(await compare('--app', './db.js').catch((error: unknown) => error)).toBeInstanceOf(Error);
    expect(await raindropHere(['doctor', ...urls.flatMap((url) => ['--url', url]), '--app', './db.js'])).toMatchObject({
      code: 2,
    });
  });
});
