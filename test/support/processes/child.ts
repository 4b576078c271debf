import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { dieWithUs, type Command } from './die-with-us';
import { until } from '../until';

const START_MS = 150_000;
const STOP_MS = 60_000;
const RUN_MS = 170_000;

/** How a process has ended; neither is there when it could not be started. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions extends Pick<SpawnOptions, 'cwd' | 'uid' | 'gid' | 'stdio'> {
  /** Variables beside those of this process; undefined takes one away. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Signals go to all the processes that it starts as well. */
  readonly hasGroup?: boolean;
  /** How it ends when this process does, SIGKILL by default; false: it goes on, because half of its work would do harm. */
  readonly diesBy?: NodeJS.Signals | false;
}

/** A process that a test has started. It dies with this one; what it prints is kept. */
export class Child {
  readonly process: ChildProcess;
  /** Settles when it has ended and everything it printed was read. */
  readonly ended: Promise<Exit>;
  stdout = '';
  stderr = '';
  /** Both, in the order in which they came. */
  printed = '';
  private exit: Exit | undefined;

  constructor(
    private readonly command: Command,
    private readonly options: ChildOptions = {},
  ) {
    const { environment, hasGroup = false, diesBy = 'SIGKILL', ...more } = options;
    const [program, ...args] = diesBy === false ? command : dieWithUs(command, diesBy);
    this.process = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...more,
      detached: hasGroup,
      env: { ...process.env, ...environment },
    });
    for (const name of ['stdout', 'stderr'] as const) {
      this.process[name]?.setEncoding('utf8').on('data', (text: string) => {
        this[name] += text;
        this.printed += text;
      });
    }
    this.ended = new Promise((settle) => {
      const end = (code: number | null, signal: NodeJS.Signals | null): void => settle((this.exit = { code, signal }));
      this.process.once('close', end);
      this.process.once('error', (error) => {
        this.stderr += String(error);
        this.printed += String(error);
        end(null, null);
      });
    });
  }

  /**
   * Waits until it has printed this.
   * @throws Error with all that it printed when it ends before that, or takes too long, for which it is killed
   */
  async says(pattern: RegExp, withinMs = START_MS): Promise<RegExpExecArray> {
    const name = this.command.join(' ');
    const look = (): RegExpExecArray | Exit | undefined => pattern.exec(this.printed) ?? this.exit;
    const found = await until(`${name} to print ${String(pattern)}`, look, { withinMs }).catch(
      async (error: unknown) => {
        await this.end('SIGKILL');
        throw new Error(`${String(error)}; it printed:\n${this.printed}`);
      },
    );
    if (Array.isArray(found)) return found;
    throw new Error(`${name} ended with ${this.exit?.signal ?? this.exit?.code}; it printed:\n${this.printed}`);
  }

  get isRunning(): boolean {
    return this.exit === undefined;
  }

  signal(name: NodeJS.Signals): void {
    const { pid } = this.process;
    if (this.options.hasGroup !== true || pid === undefined) this.process.kill(name);
    else if (this.isRunning) process.kill(-pid, name);
  }

  /** Sends a signal and waits for the end, which is enforced after that time. Safe to call twice. */
  async end(signal: NodeJS.Signals = 'SIGTERM', withinMs = STOP_MS): Promise<Exit> {
    this.signal(signal);
    return this.over(withinMs);
  }

  /** Waits for the end, which is enforced after that time. */
  async over(withinMs = RUN_MS): Promise<Exit> {
    const impatience = setTimeout(() => {
      this.stderr += `(it took longer than ${withinMs} ms and was killed)`;
      this.signal('SIGKILL');
    }, withinMs);
    return this.ended.finally(() => clearTimeout(impatience));
  }
}
