import { ConsoleLogger, type LoggerService, type LogLevel } from '@nestjs/common';
import { inspect } from 'node:util';

/** All that an application logs, as the console would show it, from the first level to the last. */
export class LogCapture extends ConsoleLogger {
  readonly lines: string[] = [];

  constructor() {
    super('', { colors: false, logLevels: ['verbose', 'debug', 'log', 'warn', 'error', 'fatal'] });
  }

  /** For the module's own `logger`: nothing more than what is asked of one. */
  readonly minimal: LoggerService = {
    log: (...words: unknown[]) => this.lines.push(`log ${words.map(String).join(' ')}`),
    warn: (...words: unknown[]) => this.lines.push(`warn ${words.map(String).join(' ')}`),
    error: (...words: unknown[]) => this.lines.push(`error ${words.map(String).join(' ')}`),
  };

  /** What was logged under Raindrop's name. */
  get ofRaindrop(): string[] {
    return this.lines.filter((line) => / Raindrop\b/.test(line));
  }

  protected override printMessages(messages: unknown[], context?: string, level?: LogLevel): void {
    for (const each of messages) {
      this.lines.push(`${level} ${typeof each === 'string' ? each : inspect(each)} ${context}`);
    }
  }

  protected override printStackTrace(stack: string): void {
    if (stack) this.lines.push(stack);
  }
}
