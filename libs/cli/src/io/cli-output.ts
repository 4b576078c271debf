import { styleText } from 'node:util';
import { Interruption } from './interruption.js';

/** What a command writes to: a process's own streams, or a test's. */
export interface CliStreams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

export type Style = Parameters<typeof styleText>[0];

/**
 * Results go to stdout, one a line or as JSON; progress, warnings and errors go to stderr. Colours are for terminals
 * only, and obey NO_COLOR and FORCE_COLOR.
 */
export class CliOutput {
  constructor(
    private readonly streams: CliStreams,
    /** Whether results are JSON. */
    readonly isJson: boolean,
    readonly interruption: Interruption,
  ) {}

  /** Text of a result, waiting while the reader is slower. @throws what ended the command, when the reader has gone */
  async write(text: string): Promise<void> {
    const { stdout } = this.streams;
    if (stdout.write(text)) return;
    await new Promise<void>((resolve, reject) => {
      const { signal } = this.interruption;
      const settle = (): void => {
        stdout.removeListener('drain', settle);
        signal.removeEventListener('abort', settle);
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      };
      stdout.once('drain', settle);
      signal.addEventListener('abort', settle);
      if (signal.aborted) settle();
    });
  }

  async line(text = ''): Promise<void> {
    await this.write(`${text}\n`);
  }

  /** A result: the value as JSON, or what `lines` makes of it for people. */
  async result(value: unknown, lines: () => readonly string[]): Promise<void> {
    await this.write(this.isJson ? `${toJson(value)}\n` : `${lines().join('\n')}\n`);
  }

  /** For people who watch: warnings and remarks. */
  note(text: string): void {
    this.streams.stderr.write(`${text}\n`);
  }

  warn(text: string): void {
    this.note(`${this.onStderr('yellow', 'warning:')} ${text}`);
  }

  /** The text in colour where stdout is a terminal that wants it. */
  styled(style: Style, text: string): string {
    return hasColours(this.streams.stdout) && !this.isJson ? styleText(style, text) : text;
  }

  onStderr(style: Style, text: string): string {
    return hasColours(this.streams.stderr) ? styleText(style, text) : text;
  }

  /** Where progress can be shown; undefined where a line that changes would be many lines. */
  get progressStream(): NodeJS.WritableStream | undefined {
    return isTerminal(this.streams.stderr) ? this.streams.stderr : undefined;
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
