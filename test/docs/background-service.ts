import { spawn, type ChildProcess } from 'node:child_process';
import { dieWithUs } from '../servers/die-with-us.js';

const START_TIMEOUT_MS = 150_000;

/** A command line that starts a server, such as `npm start`, with all the processes that it starts. */
export class BackgroundService {
  private constructor(
    /** Without a slash at the end: `http://127.0.0.1:41234`. */
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly ended: Promise<unknown>,
  ) {}

  /**
   * Starts it on a free port and waits until it says `listening at`.
   * @throws Error with what it printed, when it ends or takes longer than 150 s
   */
  static async start(command: string, folder: string): Promise<BackgroundService> {
    const [program, ...args] = await dieWithUs(['sh', '-c', command], 'SIGKILL');
    const env = { ...process.env, PORT: '0' };
    // A process group of its own, so that npm's children end with it.
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const ended = new Promise<unknown>((settle) => {
      child.once('error', settle);
      child.once('close', (code, signal) => settle(code ?? signal));
    });
    let printed = '';
    const listening = new Promise<string>((settle) => {
      const read = (chunk: Buffer): void => {
        printed += chunk.toString();
        const url = /^listening at (\S+)$/m.exec(printed)?.[1];
        if (url !== undefined) settle(url);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
    });
    const timer = setTimeout(() => signal(child, 'SIGKILL'), START_TIMEOUT_MS);
    const failed = ended.then((end) => {
      throw new Error(`${command} ended with ${String(end)}; it printed:\n${printed}`);
    });
    failed.catch(() => undefined);
    const url = await Promise.race([listening, failed]).finally(() => clearTimeout(timer));
    return new BackgroundService(url, child, ended);
  }

  /** Ends all of its processes and waits for that. */
  async stop(): Promise<void> {
    signal(this.child, 'SIGTERM');
    const timer = setTimeout(() => signal(this.child, 'SIGKILL'), 60_000);
    await this.ended.finally(() => clearTimeout(timer));
  }
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch {
    // All of them have ended.
  }
}
