import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
require('../../typescript-hook.cjs');
const { Child } = require('../../support/processes/child.ts');

/** A started app: its address, and how it ends. */
export class RunningApp {
  #child;

  constructor(folder) {
    this.#child = new Child([process.execPath, 'dist/main.js'], { cwd: folder });
  }

  get output() {
    return this.#child.printed.trim();
  }

  /** Where it listens. @throws Error when it ends before, or does not listen in time */
  async address() {
    const [, address] = await this.#child.says(/^listening at (\S+)$/m);
    return address;
  }

  /** Sends the signal. @returns the exit code, or the signal that ended the process */
  async end(name) {
    const { code, signal } = await this.#child.end(name);
    return signal ?? code;
  }

  /** Ends it in any case. */
  async kill() {
    await this.#child.end('SIGKILL');
  }
}
