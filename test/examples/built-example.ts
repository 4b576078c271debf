import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { dieWithUs } from '../servers/die-with-us.js';
import { runCommand } from '../servers/run-command.js';

const ROOT = resolve(__dirname, '../..');
const BUILD_TIMEOUT_MS = 170_000;
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 60_000;

/** A running example. */
export interface ExampleProcess {
  /** Without a slash at the end: `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Sends SIGTERM and waits for the end: the signal or exit code. Safe to call twice. */
  stop(): Promise<NodeJS.Signals | number | null>;
}

/** An example that is built, as its README says: by its own script, against the built libraries. */
export class BuiltExample {
  private readonly running: ExampleProcess[] = [];

  private constructor(private readonly program: string) {}

  /** @throws Error with what the compiler says */
  static async build(name: string): Promise<BuiltExample> {
    const folder = join(ROOT, 'examples', name);
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      scripts: Record<'build' | 'start', string>;
    };
    const start = /^npm run --silent build && node (\S+)$/.exec(scripts.start);
    if (start === null) throw new Error(`${name} starts in a way of its own: ${scripts.start}`);
    await runCommand('npm', ['run', '--silent', 'build'], { cwd: folder, timeoutMs: BUILD_TIMEOUT_MS });
    return new BuiltExample(join(folder, start[1]!));
  }

  /**
   * Starts it on a free port and waits until it listens.
   * @param folder where it keeps its database
   * @throws Error with what it printed, when it ends or takes longer than 2 min
   */
  async start(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<ExampleProcess> {
    const [command, ...args] = await dieWithUs([process.execPath, this.program], 'SIGKILL');
    const env = { ...process.env, PORT: '0', ...environment };
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<NodeJS.Signals | number | null>((settle, fail) => {
      child.once('error', fail);
      child.once('close', (code, signal) => settle(code ?? signal));
    });
    const killAfter = (ms: number): NodeJS.Timeout => setTimeout(() => child.kill('SIGKILL'), ms);

    let printed = '';
    const timer = killAfter(START_TIMEOUT_MS);
    const listening = new Promise<string>((settle) => {
      const read = (chunk: Buffer): void => {
        printed += chunk.toString();
        const url = /^listening at (\S+)$/m.exec(printed)?.[1];
        if (url !== undefined) settle(url);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
    });
    const failed = ended.then((end) => {
      throw new Error(`the example ended with ${end}; it printed:\n${printed}`);
    });
    failed.catch(() => undefined);
    const url = await Promise.race([listening, failed]).finally(() => clearTimeout(timer));

    const stop = async (): Promise<NodeJS.Signals | number | null> => {
      child.kill('SIGTERM');
      const timer = killAfter(STOP_TIMEOUT_MS);
      return ended.finally(() => clearTimeout(timer));
    };
    const started = { url, stop };
    this.running.push(started);
    return started;
  }

  /** Stops what is still running. */
  async stopAll(): Promise<void> {
    await Promise.all(this.running.splice(0).map((each) => each.stop()));
  }
}
