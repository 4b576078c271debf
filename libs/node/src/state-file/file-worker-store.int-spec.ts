import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeConcurrentAcquirers } from '../../../../test/proof/contract/concurrent-acquirers.contract.js';
import { describeWorkerStore, writeTo } from '../../../../test/proof/contract/worker-store.contract.js';
import { FileWorkerStore } from './file-worker-store.js';
import { changeWorkers } from '../../../../test/support/state-file/change-workers.js';
import { temporaryDirectory } from '../../../../test/support/state-file/temporary-directory.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';

describeWorkerStore('a state file', () => {
  const { directory, drop } = temporaryDirectory();
  const path = join(directory, 'workers');
  // One machine has one clock.
  const { now } = Date;
  return Promise.resolve({
    open: () => new FileWorkerStore({ path, now }),
    foreignWrite: (id) =>
      changeWorkers(path, ({ rows }) => {
        const row = rows.get(id)!;
        rows.set(id, { ...row, version: row.version + 1 });
      }),
    markDeleted: (id) =>
      changeWorkers(path, ({ rows, deleted }) => {
        deleted.set(id, rows.get(id)!);
        rows.delete(id);
      }),
    dispose: () => Promise.resolve(drop()),
  });
});

// One file is for the processes of one machine.
describeConcurrentAcquirers(
  'a state file',
  () => {
    const { directory, drop } = temporaryDirectory();
    const path = join(directory, 'workers');
    return Promise.resolve({ open: () => new FileWorkerStore({ path }), dispose: () => Promise.resolve(drop()) });
  },
  { acquirers: 16, rows: 10 },
);

describe('The state file', () => {
  let directory: string;
  let drop: () => void;
  let path: string;

  beforeEach(() => {
    ({ directory, drop } = temporaryDirectory());
    path = join(directory, 'workers');
  });

  afterEach(() => drop());

  async function prepared(max = 2): Promise<FileWorkerStore> {
    const store = new FileWorkerStore({ path });
    await store.prepare({ min: 1, max });
    return store;
  }

  /** The one file with the current version. */
  function currentFile(): string {
    const names = readdirSync(path);
    expect(names).toHaveLength(1);
    return join(path, names[0]!, names[0]!);
  }

  it('is for this user alone, and no more than one version', async () => {
    const store = await prepared();
    for (let round = 0; round < 5; round++) await store.write(writeTo((await store.readRow(1)).row!));
    expect(readdirSync(join(currentFile(), '..'))).toHaveLength(1);
    expect([statSync(path).mode & 0o777, statSync(currentFile()).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readdirSync(directory)).toEqual(['workers']);
  });

  it.each([
    ['cut', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, -9))],
    ['cut before its end of line', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, -2))],
    ['empty', (file: string) => writeFileSync(file, '')],
    ['full of zeros', (file: string) => writeFileSync(file, Buffer.alloc(400))],
    ['of another program', (file: string) => writeFileSync(file, '{"name":"package"}\n')],
    [
      'changed in one digit',
      (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('60000', '60001')),
    ],
    ['of another format', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('s 1 ', 's 2 '))],
    ['missing', (file: string) => rmSync(file)],
    [
      'missing with its directory, beside something else',
      (file: string) => {
        rmSync(join(file, '..'), { recursive: true });
        writeFileSync(join(path, 'notes.txt'), '');
      },
    ],
    [
      'there twice',
      () => {
        const second = '1-0123456789abcdef';
        mkdirSync(join(path, second));
        writeFileSync(join(path, second, second), 'x');
      },
    ],
  ])('that is %s is refused, by every call, and left as it is', async (_, damage) => {
    const store = await prepared();
    await store.write(
      writeTo((await store.readRow(1)).row!, {
        odometers: [
          { ms: 60_000, sequence: 0 },
          { ms: 0, sequence: 0 },
        ],
      }),
    );
    damage(currentFile());
    const before = readdirSync(path);
    const refusal = { errorCode: 'STATE_FILE_CORRUPT', retryable: false, path };
    const fresh = new FileWorkerStore({ path });
    await expect(fresh.prepare({ min: 1, max: 2 })).rejects.toMatchObject(refusal);
    await expect(fresh.readTable()).rejects.toMatchObject(refusal);
    await expect(fresh.rememberLayout('x')).rejects.toMatchObject(refusal);
    await expect(fresh.fence(fenceRequest(1))).rejects.toMatchObject(refusal);
    expect(readdirSync(path)).toEqual(before);
  });

  it.each([
    [
      'in a directory that does not exist',
      () => join(directory, 'none', 'workers'),
      'ENOENT',
      /parent directory does not exist/,
    ],
    ['where there is a file', () => join(directory, 'file'), 'ENOTDIR', /not a directory/],
    ['inside a file', () => join(directory, 'file', 'workers'), 'ENOTDIR', /not a directory/],
    ['with too long a name', () => join(directory, 'x'.repeat(300)), 'ENAMETOOLONG', /shorter/],
  ])('cannot be %s: the error names the option', async (_, place, systemCode, words) => {
    writeFileSync(join(directory, 'file'), '');
    const error: unknown = await new FileWorkerStore({ path: place() })
      .prepare({ min: 1, max: 2 })
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ errorCode: 'STATE_FILE_UNUSABLE', retryable: false, systemCode, path: place() });
    expect((error as Error).message).toMatch(words);
    expect((error as Error).message).toContain('stateFile ');
  });

  it('cannot be where this user may not write', async () => {
    chmodSync(directory, 0o500);
    const isRoot = process.getuid?.() === 0;
    // Nothing is forbidden to root.
    if (isRoot) process.seteuid?.(65_534);
    const error: unknown = await prepared().catch((reason: unknown) => reason);
    if (isRoot) process.seteuid?.(0);
    chmodSync(directory, 0o700);
    expect(error).toMatchObject({ errorCode: 'STATE_FILE_UNUSABLE', retryable: false, systemCode: 'EACCES' });
  });

  it('may be an empty directory at the first start, as a fresh volume has one', async () => {
    mkdirSync(path);
    await prepared();
    expect(existsSync(currentFile())).toBe(true);
  });

  it('that is removed while a store is open is not made anew by anything but a start', async () => {
    const store = await prepared();
    const { row } = await store.readRow(1);
    rmSync(path, { recursive: true });
    expect(await store.write(writeTo(row!))).toBe(false);
    expect((await store.readRow(1)).row).toBeUndefined();
    expect(existsSync(path)).toBe(false);
  });

  it('ends leases from the future when their rows stand still, so that a clock that was set back blocks no process', async () => {
    let [wall, steady] = [1_000_000, 0];
    const open = () => new FileWorkerStore({ path, now: () => wall, monotonic: { now: () => steady } });
    const holder = open();
    await holder.prepare({ min: 1, max: 1 });
    const renew = async (): Promise<void> => {
      await holder.write(writeTo((await holder.readRow(1)).row!, { leaseMs: 3_000 }));
    };
    await renew();
    const other = open();
    const leftMs = async (): Promise<number> => (await other.readRow(1)).row!.leaseUntilMs - wall;
    expect(await leftMs()).toBe(3_000);
    // An hour back: by the clock the lease would last an hour and three seconds.
    wall -= 3_600_000;
    expect(await leftMs()).toBe(3_000);
    [wall, steady] = [wall + 2_000, steady + 2_000];
    expect(await leftMs()).toBe(1_000);
    // A holder that lives renews, in the future as he may believe.
    wall += 3_600_000;
    await renew();
    wall -= 3_600_000;
    expect(await leftMs()).toBe(3_000);
    [wall, steady] = [wall + 2_999, steady + 2_999];
    expect(await leftMs()).toBe(1);
    steady += 1;
    expect(await leftMs()).toBe(0);
    expect((await other.readSample({ workers: { min: 1, max: 1 }, from: 1, atMost: 1, graceMs: 0 })).live).toBe(0);
  });
});
