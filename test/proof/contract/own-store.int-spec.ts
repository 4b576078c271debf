import { openIdService, type IdService, type ReservingAssigner } from '@raindrop/node';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { NumberedFiles } from '../../../examples/own-store/src/numbered-files.js';
import { fileWorkers, PlainFileStore } from '../../../examples/own-store/src/plain-file-store.js';
import { temporaryDirectory } from '../../support/state-file/temporary-directory.js';
import { describeConcurrentAcquirers } from './concurrent-acquirers.contract.js';
import { describeWorkerStore } from './worker-store.contract.js';

function makeBench(): { open(): PlainFileStore; dispose(): Promise<void> } {
  const { directory, drop } = temporaryDirectory();
  const folder = join(directory, 'workers');
  return { open: () => new PlainFileStore(folder, 20_000), dispose: () => Promise.resolve(drop()) };
}

describeWorkerStore('plain files', makeBench, {});

describeConcurrentAcquirers('plain files', () => Promise.resolve(makeBench()), { acquirers: 16, rows: 10 });

describe('A service with a store of its own', () => {
  let folder: string;
  let drop: () => void;
  const services: IdService[] = [];

  beforeEach(() => {
    const made = temporaryDirectory();
    drop = made.drop;
    folder = join(made.directory, 'workers');
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close()));
    drop();
  });

  async function start(): Promise<IdService> {
    const service = await openIdService({ workerIdAssigner: fileWorkers(folder), serviceMaxWorkId: 9 });
    services.push(service);
    return service;
  }

  it('shares its rows, repeats no ID over restarts, and removes old versions', async () => {
    const ids: string[] = [];
    for (let round = 0; round < 20; round++) {
      const both = await Promise.all([start(), start()]);
      const workers = both.map((service) => service.status());
      expect(workers).toMatchObject([
        { assigner: 'files', guarantee: 'reserved' },
        { assigner: 'files', guarantee: 'reserved' },
      ]);
      for (const service of both) ids.push(...service.nextStrings(2_000));
      await Promise.all(both.map((service) => service.close()));
    }
    expect(new Set(ids).size).toBe(20 * 2 * 2_000);
    const versions = readdirSync(folder);
    expect(Number(versions.sort().at(-1))).toBeGreaterThan(66);
    expect(versions.length).toBeLessThanOrEqual(66);
  });

  it.each([
    ['has no name', { openStore: () => new PlainFileStore(folder, 1_000) }, /an object with a name and openStore/],
    ['opens no store', { name: 'own', openStore: () => ({ prepare: () => {} }) }, /missing: readTable, readSample,/],
    [
      'promises one',
      { name: 'own', openStore: () => Promise.resolve(new PlainFileStore(folder, 1_000)) },
      /not a promise/,
    ],
  ])('is refused when what opens it %s', async (_, assigner, words) => {
    const failing = openIdService({ workerIdAssigner: assigner as unknown as ReservingAssigner });
    await expect(failing).rejects.toMatchObject({ problems: [{ option: 'workerIdAssigner' }] });
    await expect(failing).rejects.toThrow(words);
  });

  it('has no file that is longer than a reader likes', () => {
    const source = readFileSync(resolve(__dirname, '../../../examples/own-store/src/plain-file-store.ts'), 'utf8');
    expect(source.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(70);
  });
});

describe('Numbered files', () => {
  it('do not let a process write that slept while the next number came and went', async () => {
    const { directory, drop } = temporaryDirectory();
    const files = new NumberedFiles(directory, { count: 0 }, 20_000);
    for (let count = 1; count <= 100; count++) await files.change((content) => (content.count = count));
    await expect(files['replace']([0, 1, 2], '{"count":-1}')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(files['replace']([], '{"count":-1}')).resolves.toBe(false);
    expect((await files.read()).content).toEqual({ count: 100 });
    drop();
  });

  it('keep an edit from being tried again once its call was abandoned', async () => {
    const { directory, drop } = temporaryDirectory();
    const files = new NumberedFiles(directory, { count: 0 }, 20_000);
    const other = new NumberedFiles(directory, { count: 0 }, 20_000);
    let edits = 0;
    const overtaken = files.change((content) => {
      edits++;
      files.abandon();
      return (content.count = -1);
    });
    // Both are settled together: the overtaken change may be refused while the other one still writes.
    const [first, second] = await Promise.allSettled([overtaken, other.change((content) => (content.count = 7))]);
    expect(second).toEqual({ status: 'fulfilled', value: 7 });
    expect(edits).toBe(1);
    if (first.status === 'fulfilled') expect(first.value).toBe(-1);
    else expect(String(first.reason)).toContain('no time was left');
    drop();
  });
});
