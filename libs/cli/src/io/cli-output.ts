import { styleText } from 'node:util';
import type { CliStreams } from './cli-streams.js';
import type { Interruption } from './interruption.js';

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
