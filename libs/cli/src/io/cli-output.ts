import { styleText } from 'node:util';
import { EXIT_CODES, type ExitCode } from '../input-error.js';

/** Control characters, but for tabs, ends of lines and colours. */
const CONTROLS = /\u001b(?!\[\d+m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

/** The error codes of a write whose reader is gone. The last one is that of a socket closed with unread data. */
const GONE: readonly string[] = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ECONNRESET'];

/** A colour or another style of a text on a terminal. */
export type Style = Parameters<typeof styleText>[0];

/** The streams of a command: those of the process, or of a test. */
export interface CliStreams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** `decode` reads IDs from it when its arguments hold none. */
  readonly stdin?: NodeJS.ReadableStream;
}

/**
 * Writes results to stdout, one a line or as JSON, and progress, warnings and errors to stderr; with `--json` those are
 * one JSON document a line. Colours are for terminals only, and obey NO_COLOR and FORCE_COLOR.
 */
export class CliOutput {
  constructor(
    private readonly streams: CliStreams,
    /** Whether results are JSON. */
    readonly isJson: boolean,
    readonly interruption: Interruption,
    /** What the user calls the options, by their names in code: `--worker-bits` for `workIdLength`. */
    private readonly names: ReadonlyMap<string, string> = new Map(),
  ) {}

  /** An option as the user named it; by its name in code where a file gives it. */
  nameOf(option: string): string {
    return this.names.get(option) ?? option;
  }

  /** A message with the options as the user named them. Names without a capital, such as `layout`, are words as well. */
  inNamesGiven(message: string): string {
    return message.replace(/\b[a-z]+[A-Z]\w*\b/g, (name) => this.nameOf(name));
  }

  /**
   * Writes a text of a result, and waits until stdout has taken it: a result that cannot be written is a failure.
   * @throws the reason why the command ended, when the reader of stdout is gone or the disk is full
   */
  async write(text: string): Promise<void> {
    const { interruption, streams } = this;
    interruption.check();
    await new Promise<void>((resolve, reject) => {
      const { signal } = interruption;
      const end = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', end, { once: true });
      streams.stdout.write(text, (error) => {
        // This ends the wait, and the command.
        if (error instanceof Error) interruption.failed(error);
        signal.removeEventListener('abort', end);
        resolve();
      });
    });
  }

  /** Writes the end of a result that was begun, also after an interruption. It does not wait for stdout. */
  finish(text: string): void {
    this.streams.stdout.write(text, () => undefined);
  }

  /** Writes a result: the value as JSON, or `lines` for people. */
  async result(value: unknown, lines: () => readonly string[]): Promise<void> {
    await this.write(this.isJson ? `${toJson(value)}\n` : `${this.shown(lines().join('\n'), this.streams.stdout)}\n`);
  }

  /** Clears a terminal; elsewhere results follow one another. */
  async clear(): Promise<void> {
    if (this.showsResults && !this.isJson) await this.write('\u001b[H\u001b[2J');
  }

  /** Writes progress or advice. */
  note(text: string): void {
    this.tell({ note: text }, text);
  }

  warn(text: string): void {
    this.tell({ warning: text }, `${this.onStderr('yellow', 'warning:')} ${text}`);
  }

  /** Writes an error; `problems` holds a line for each problem. */
  error(code: string, message: string, problems: readonly string[]): void {
    const lines = [`${this.onStderr('red', 'error:')} ${message}`, ...problems.map((each) => `  - ${each}`)];
    this.tell({ error: { code, message, problems } }, lines.join('\n'));
  }

  /** Colours a text where stdout is a terminal with colours. */
  styled(style: Style, text: string): string {
    return hasColours(this.streams.stdout) && !this.isJson ? inColour(style, text) : text;
  }

  /** The input of a command; undefined when there is none. */
  get stdin(): NodeJS.ReadableStream | undefined {
    return this.streams.stdin;
  }

  /** The stream on which progress is drawn; undefined where stderr is no terminal and each change would be a line. */
  get progressStream(): NodeJS.WritableStream | undefined {
    return isTerminal(this.streams.stderr) ? this.streams.stderr : undefined;
  }

  /** Whether results go to a terminal, where progress would be drawn between them. */
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

  /** Replaces control characters: a text out of a database must not control the terminal. */
  private shown(text: string, stream: NodeJS.WritableStream): string {
    return isTerminal(stream) ? text.replace(CONTROLS, '?') : text;
  }
}

/** Writes a value as JSON, with bigints as decimal text. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each), 2);
}

function isTerminal(stream: NodeJS.WritableStream): stream is NodeJS.WriteStream {
  return (stream as Partial<NodeJS.WriteStream>).isTTY === true;
}

/** Whether a stream is a terminal with colours, by NO_COLOR, NODE_DISABLE_COLORS, FORCE_COLOR and TERM. */
function hasColours(stream: NodeJS.WritableStream): boolean {
  return isTerminal(stream) && stream.hasColors();
}

/** Newer versions of Node would check stdout for colours, whichever stream the text is for: that check is off. */
function inColour(style: Style, text: string): string {
  return styleText(style, text, { validateStream: false });
}

/**
 * A signal, or the end of the reader of stdout, ended the command. It gives its worker id back, and does nothing more.
 */
export class InterruptedError extends Error {
  constructor(
    /** The cause, in words. */
    readonly by: 'SIGINT' | 'SIGTERM' | 'its reader',
    readonly exitCode: ExitCode,
  ) {
    super(`ended by ${by}`);
    this.name = 'InterruptedError';
  }
}

/**
 * Turns SIGINT, SIGTERM and the end of the reader of stdout (`| head`) into one AbortSignal. The same signal once
 * more ends the process at once, because its listener is gone by then.
 */
export class Interruption {
  private readonly controller = new AbortController();
  private isHolding = false;

  constructor({ stdout, stderr }: CliStreams) {
    process.once('SIGINT', this.onInt);
    process.once('SIGTERM', this.onTerm);
    stdout.on('error', this.failed);
    // The reader of stderr may go. Without a listener that error would end the process before the worker id is given
    // back.
    stderr.on('error', () => undefined);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** @throws InterruptedError when the command was interrupted; the error of stdout when stdout failed */
  check(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** From now on there is a worker id to give back: the work itself must react to the signal and end. */
  hold(): void {
    this.isHolding = true;
  }

  /** Waits for the work. Before {@link hold} a signal ends the wait at once. */
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

  /** Called when stdout has failed. */
  readonly failed = (error: NodeJS.ErrnoException): void => {
    const isGone = GONE.includes(error.code ?? '');
    // A reader such as `head` has got the lines that it wanted: that is no failure.
    this.end(isGone ? new InterruptedError('its reader', EXIT_CODES.done) : error);
  };

  /** Removes the listeners to signals. The reader of stdout may still go: that is not reported. */
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
