import { randomUUID } from 'node:crypto';
import { access, link, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const KEPT = 64;

/**
 * A value in plain files that any number of processes change by compare-and-swap. Each version is a file with a number,
 * and the highest one counts: of all who link the next number one has success. There is no lock to be left behind.
 */
export class NumberedFiles<Content> {
  private calls = { areAbandoned: false };

  constructor(
    private readonly folder: string,
    private readonly first: Content,
    private readonly timeLimitMs: number,
  ) {}

  async create(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
  }

  async read(): Promise<{ numbers: number[]; content: Content }> {
    const names = (await readdir(this.folder)).filter((name) => /^\d{16}$/.test(name));
    const numbers = names.map(Number).sort((a, b) => a - b);
    const last = numbers.at(-1);
    if (last === undefined) return { numbers, content: structuredClone(this.first) };
    return { numbers, content: JSON.parse(await readFile(this.path(last), 'utf8')) as Content };
  }

  /** Changes the value as it is at one moment; an edit that answers undefined leaves it as it is. */
  async change<T>(edit: (content: Content) => T | undefined): Promise<T | undefined> {
    const { calls } = this;
    const endMs = performance.now() + this.timeLimitMs;
    while (!calls.areAbandoned && performance.now() < endMs) {
      const { numbers, content } = await this.read();
      const answer = edit(content);
      if (answer === undefined || (await this.replace(numbers, JSON.stringify(content)))) return answer;
      await pause(Math.random() * 20);
    }
    throw new Error('no time was left: other processes were faster each time');
  }

  /** Ends the changes under way: none of them is tried again. */
  abandon(): void {
    this.calls.areAbandoned = true;
    this.calls = { areAbandoned: false };
  }

  private async replace(numbers: readonly number[], text: string): Promise<boolean> {
    const draft = `${this.folder}/${randomUUID()}`;
    const last = numbers.at(-1) ?? -1;
    try {
      await sync(draft, text);
      await link(draft, this.path(last + 1));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
    await sync(this.folder);
    // If it is gone, others were there long before us, and removed ours as well: whether this was in time is unknown.
    if (last >= 0) await access(this.path(last));
    // In this order, and never the first one: who links a number a second time has to find out.
    for (const old of numbers.slice(1, -KEPT)) await rm(this.path(old), { force: true });
    return true;
  }

  private path(number: number): string {
    return `${this.folder}/${String(number).padStart(16, '0')}`;
  }
}

/** Puts a new file, or a folder as it is, on the disk. */
async function sync(path: string, text?: string): Promise<void> {
  const file = await open(path, text === undefined ? 'r' : 'wx');
  try {
    if (text !== undefined) await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
