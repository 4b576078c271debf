import { styleText } from 'node:util';
import { EXIT_CODES, type ExitCode } from '../input-error.js';

const CONTROLS = /\u001b(?!\[\d+m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

export type Style = Parameters<typeof styleText>[0];

/**
 * Results go to stdout, one a line or as JSON; progress, warnings and errors go to stderr, with JSON one document a
 * line. Colours are for terminals only, and there obey NO_COLOR and FORCE_COLOR.
 */
export class CliOutput {
  constructor(
    private readonly streams: CliStreams,
    /** Whether results are JSON. */
    readonly isJson: boolean,
    readonly interruption: Interruption,
  ) {}

  /**
   * Text of a result, waiting until it is out of our hands: what cannot be written is no success.
   * @throws what ended the command, when the reader has gone or there is no room
   */
  async write(text: string): Promise<void> {
    const { interruption, streams } = this;
    interruption.check();
    await new Promise<void>((resolve, reject) => {
      const { signal } = interruption;
      const end = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', end, { once: true });
      streams.stdout.write(text, (error) => {
        // Ends the waiting, and the command.
        if (error instanceof Error) interruption.failed(error);
        signal.removeEventListener('abort', end);
        resolve();
      });
    });
  }

  /** The end of a result that was begun, also after an interruption. Nobody waits for it. */
  finish(text: string): void {
    this.streams.stdout.write(text, () => undefined);
  }

  /** A result: the value as JSON, or what `lines` makes of it for people. */
  async result(value: unknown, lines: () => readonly string[]): Promise<void> {
    await this.write(this.isJson ? `${toJson(value)}\n` : `${this.shown(lines().join('\n'), this.streams.stdout)}\n`);
  }

  /** Takes what was shown off a terminal; elsewhere results follow one another. */
  async clear(): Promise<void> {
    if (this.showsResults && !this.isJson) await this.write('\u001b[H\u001b[2J');
  }

  /** For people who watch. */
  note(text: string): void {
    this.tell({ note: text }, text);
  }

  warn(text: string): void {
    this.tell({ warning: text }, `${this.onStderr('yellow', 'warning:')} ${text}`);
  }

  /** What went wrong; `problems` is all that is wrong, a line each. */
  error(code: string, message: string, problems: readonly string[]): void {
    const lines = [`${this.onStderr('red', 'error:')} ${message}`, ...problems.map((each) => `  - ${each}`)];
    this.tell({ error: { code, message, problems } }, lines.join('\n'));
  }

  /** The text in colour where stdout is a terminal that wants it. */
  styled(style: Style, text: string): string {
    return hasColours(this.streams.stdout) && !this.isJson ? inColour(style, text) : text;
  }

  /** What a command is fed with; undefined when there is nothing. */
  get stdin(): NodeJS.ReadableStream | undefined {
    return this.streams.stdin;
  }

  /** Where progress can be shown; undefined where a line that changes would be many lines. */
  get progressStream(): NodeJS.WritableStream | undefined {
    return isTerminal(this.streams.stderr) ? this.streams.stderr : undefined;
  }

  /** Whether results and progress would come out at the same place. */
  get showsResults(): boolean {
    return isTerminal(this.streams.stdout);
  }

  private onStderr(style: Style, text: string): string {
    return hasColours(this.streams.stderr) ? inColour(style, text) : text;
  }

  private tell(value: object, text: string): void {
    const { stderr } = this.streams;
    stderr.write(this.isJson ? `${JSON.stringify(value)}\n` : `${this.shown(text, stderr)}\n`);
  }

  /** What came out of a database must not drive a terminal; line ends, tabs and colours of ours may stay. */
  private shown(text: string, stream: NodeJS.WritableStream): string {
    return isTerminal(stream) ? text.replace(CONTROLS, '?') : text;
  }
}

/** With bigints as decimal text. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each), 2);
}

function isTerminal(stream: NodeJS.WritableStream): stream is NodeJS.WriteStream {
  return (stream as Partial<NodeJS.WriteStream>).isTTY === true;
}

/** Node reads NO_COLOR, NODE_DISABLE_COLORS, FORCE_COLOR and TERM. */
function hasColours(stream: NodeJS.WritableStream): boolean {
  return isTerminal(stream) && stream.hasColors();
}

/** Newer versions of Node would look at stdout, whichever stream it is for. */
function inColour(style: Style, text: string): string {
  return styleText(style, text, { validateStream: false });
}

/** What a command reads and writes: a process's own streams, or a test's. */
export interface CliStreams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Where `decode` reads IDs from when it is given none; without it there are none. */
  readonly stdin?: NodeJS.ReadableStream;
}

/** The user or the system ended the command: it gives back what it holds, and does nothing more. */
export class InterruptedError extends Error {
  constructor(
    /** What ended it, in words. */
    readonly by: 'SIGINT' | 'SIGTERM' | 'its reader',
    readonly exitCode: ExitCode,
  ) {
    super(`ended by ${by}`);
    this.name = 'InterruptedError';
  }
}

/** The codes of a write whose reader is gone; a socket that was closed with unread data gives the last one. */
const GONE: readonly string[] = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ECONNRESET'];

/**
 * Turns SIGINT, SIGTERM and a reader of stdout that has gone (`| head`) into one AbortSignal. A second signal ends the
 * process at once, as it would without this listener.
 */
export class Interruption {
  private readonly controller = new AbortController();
  private isHolding = false;

  constructor({ stdout, stderr }: CliStreams) {
    process.once('SIGINT', this.onInt);
    process.once('SIGTERM', this.onTerm);
    stdout.on('error', this.failed);
    // The reader of stderr is gone. Without a listener the error would end the process, and leave the worker id taken.
    stderr.on('error', () => undefined);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** @throws InterruptedError when the command was ended; the error of stdout when that failed */
  check(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** From now on something has to be given back: the work sees the signal and ends by itself. */
  hold(): void {
    this.isHolding = true;
  }

  /** What the work comes to; while it holds nothing, a signal ends the waiting at once. */
  race<T>(work: Promise<T>): Promise<T> {
    const ended = new Promise<never>((_, reject) => {
      const end = (): void => {
        if (!this.isHolding) reject(this.signal.reason as Error);
      };
      this.signal.addEventListener('abort', end, { once: true });
      if (this.signal.aborted) end();
    });
    return Promise.race([work, ended]);
  }

  /** Stdout takes nothing any more. */
  readonly failed = (error: NodeJS.ErrnoException): void => {
    const isGone = GONE.includes(error.code ?? '');
    // Who reads the first lines only has got what he wanted.
    this.end(isGone ? new InterruptedError('its reader', EXIT_CODES.done) : error);
  };

  /** Ends listening to signals; the reader of stdout may still go, which is nothing to report. */
  stop(): void {
    process.removeListener('SIGINT', this.onInt);
    process.removeListener('SIGTERM', this.onTerm);
  }

  private readonly onInt = (): void => this.end(new InterruptedError('SIGINT', EXIT_CODES.interrupted));
  private readonly onTerm = (): void => this.end(new InterruptedError('SIGTERM', EXIT_CODES.terminated));

  private end(reason: Error): void {
    this.controller.abort(reason);
  }
}
