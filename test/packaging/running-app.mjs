import { spawn } from 'node:child_process';

const START_MS = 120_000;
const END_MS = 60_000;

/** A started app: its address, and how it ends. */
export class RunningApp {
  #child;
  #output = '';
  #ended;

  constructor(folder) {
    this.#child = spawn(process.execPath, ['dist/main.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout.on('data', (chunk) => (this.#output += chunk));
    this.#child.stderr.on('data', (chunk) => (this.#output += chunk));
    this.#ended = new Promise((resolve) => this.#child.on('close', (code, signal) => resolve(signal ?? code)));
  }

  get output() {
    return this.#output.trim();
  }

  /** Where it listens. @throws Error when it ends before, or does not listen in time */
  async address() {
    const heard = new Promise((resolve) => {
      this.#child.stdout.on('data', () => {
        const [, address] = /^listening at (\S+)$/m.exec(this.#output) ?? [];
        if (address !== undefined) resolve(address);
      });
    });
    const ended = this.#ended.then((end) => Promise.reject(new Error(`it ended with ${end} before it listened`)));
    return within(START_MS, Promise.race([heard, ended]), 'it did not listen');
  }

  /** Sends the signal. @returns the exit code, or the signal that ended the process */
  async end(signal) {
    this.#child.kill(signal);
    return within(END_MS, this.#ended, `it did not end after ${signal}`);
  }

  /** Ends it in any case. */
  async kill() {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

async function within(ms, promise, problem) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${problem} within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
