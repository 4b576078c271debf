import { join } from 'node:path';
import type { FileCalls, StateVersion } from '../../../libs/node/src/state-file/state-directory.js';

/** The control: a file that is compared, then written anew and renamed. Each step is right, and together they are not. */
export class NaiveFile {
  private drafts = 0;

  constructor(
    private readonly directory: string,
    private readonly files: FileCalls,
    private readonly name: string,
  ) {}

  async read(): Promise<StateVersion> {
    const text = await this.files.read(join(this.directory, 'state'));
    return { name: text, text };
  }

  async replace(seen: StateVersion, text: string): Promise<StateVersion | undefined> {
    if ((await this.read()).text !== seen.text) return undefined;
    const draft = join(this.directory, `${this.name}${this.drafts++}.new`);
    await this.files.createFile(draft, text);
    await this.files.syncDirectory(this.directory);
    await this.files.rename(draft, join(this.directory, 'state'));
    return { name: text, text };
  }
}
