import fc from 'fast-check';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileCalls, StateDirectory, type StateVersion } from './state-directory.js';
import { gatedFiles } from '../../../../test/support/state-file/gated-files.js';
import { NaiveFile } from '../../../../test/support/state-file/naive-file.js';
import { temporaryDirectory } from '../../../../test/support/state-file/temporary-directory.js';
import { runs } from '../../../../test/tier.js';

/** What can be read, and replaced by compare-and-swap, or so it says. */
interface Cell {
  read(): Promise<StateVersion | undefined>;
  replace(seen: StateVersion, text: string): Promise<StateVersion | undefined>;
}

/** Counts one up, as it was read. @returns whether it was written */
async function countUp(cell: Cell): Promise<boolean> {
  const seen = (await cell.read())!;
  return (await cell.replace(seen, String(Number(seen.text) + 1))) !== undefined;
}

const CELLS = [
  {
    name: 'the state directory',
    isSafe: true,
    open: (path: string, files?: FileCalls): Cell => new StateDirectory(path, files),
    prepare: async (path: string) => {
      await new StateDirectory(path).create('0');
    },
  },
  {
    name: 'a file that is compared and renamed: the control',
    isSafe: false,
    open: (path: string, files?: FileCalls): Cell =>
      new NaiveFile(path, files ?? gatedFiles(async () => {}), `${opened++}-`),
    prepare: (path: string) => {
      mkdirSync(path);
      writeFileSync(join(path, 'state'), '0');
      return Promise.resolve();
    },
  },
];
let opened = 0;

describe.each(CELLS)('$name', ({ isSafe, open, prepare }) => {
  let directory: string;
  let drop: () => void;
  let paths = 0;

  beforeAll(() => ({ directory, drop } = temporaryDirectory()));
  afterAll(() => drop());

  async function fresh(): Promise<string> {
    const path = join(directory, String(paths++));
    await prepare(path);
    return path;
  }

  /** Writers that were told they have written, less what the count says. */
  async function lost(path: string, successes: number): Promise<number> {
    return successes - Number((await open(path).read())!.text);
  }

  it.each([1, 2, 3])(
    `${isSafe ? 'loses' : 'loses much, not'} nothing when a writer is paused at any call while others write %i times`,
    async (rounds) => {
      let [most, wentThrough] = [0, false];
      for (let at = 0; !wentThrough; at++) {
        const path = await fresh();
        let successes = 0;
        let calls = 0;
        wentThrough = true;
        const files = gatedFiles(async () => {
          if (calls++ !== at) return;
          wentThrough = false;
          for (let round = 0; round < rounds; round++) if (await countUp(open(path))) successes++;
        });
        if (await countUp(open(path, files))) successes++;
        // A later process finds everything in order.
        if (await countUp(open(path))) successes++;
        most = Math.max(most, Math.abs(await lost(path, successes)));
      }
      if (isSafe) expect(most).toBe(0);
      else expect(most).toBeGreaterThan(0);
    },
  );

  it(`${isSafe ? 'loses' : 'loses much, not'} nothing in any order of the calls of four`, async () => {
    let most = 0;
    const trial = async (order: readonly number[]): Promise<void> => {
      const path = await fresh();
      const waiting: (() => void)[] = [];
      const gate = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
      let running = 4;
      const writers = Array.from({ length: 4 }, async () => {
        const cell = open(path, gatedFiles(gate));
        let written = 0;
        for (let tries = 0; tries < 3; tries++) if (await countUp(cell)) written++;
        running--;
        return written;
      });
      for (let turn = 0; running > 0; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        const [next] = waiting.splice((order[turn % order.length]! * 31 + turn) % Math.max(1, waiting.length), 1);
        next?.();
      }
      const successes = (await Promise.all(writers)).reduce((sum, each) => sum + each, 0);
      expect(successes).toBeGreaterThan(0);
      most = Math.max(most, Math.abs(await lost(path, successes)));
    };
    await fc.assert(fc.asyncProperty(fc.array(fc.nat(999), { minLength: 5, maxLength: 60 }), trial), {
      numRuns: runs(60, 10),
    });
    if (isSafe) expect(most).toBe(0);
    else expect(most).toBeGreaterThan(0);
  });
});

describe('The first version', () => {
  let directory: string;
  let drop: () => void;

  beforeEach(() => ({ directory, drop } = temporaryDirectory()));
  afterEach(() => drop());

  it('is made by exactly one of many, also when one was paused at any call', async () => {
    let wentThrough = false;
    for (let at = 0; !wentThrough; at++) {
      const path = join(directory, String(at));
      let calls = 0;
      let winners = 0;
      wentThrough = true;
      const files = gatedFiles(async () => {
        if (calls++ !== at) return;
        wentThrough = false;
        const others = Array.from({ length: 4 }, (_, index) => new StateDirectory(path).create(`other ${index}`));
        winners = (await Promise.all(others)).filter((each) => each !== undefined).length;
        // And goes on from there.
        const current = (await new StateDirectory(path).read())!;
        await new StateDirectory(path).replace(current, 'later');
      });
      if ((await new StateDirectory(path, files).create('paused')) !== undefined) winners++;
      expect([at, winners]).toEqual([at, 1]);
      expect((await new StateDirectory(path).read())!.text).toMatch(wentThrough ? 'paused' : /later|paused/);
    }
    expect(readdirSync(directory).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('is read by a process that is paused at any call while it is replaced again and again', async () => {
    const path = join(directory, 'state');
    await new StateDirectory(path).create('0');
    let wentThrough = false;
    for (let at = 0; !wentThrough; at++) {
      let calls = 0;
      wentThrough = true;
      const before = Number((await new StateDirectory(path).read())!.text);
      const files = gatedFiles(async () => {
        if (calls++ !== at) return;
        wentThrough = false;
        for (let round = 0; round < 3; round++) await countUp(new StateDirectory(path));
      });
      const read = Number((await new StateDirectory(path, files).read())!.text);
      expect([before, before + 3]).toContain(read);
    }
  });
});
