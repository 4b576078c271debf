import type { Command } from './die-with-us.js';
import { Child, type ChildOptions } from './child.js';

/** A server in a process of its own. */
export interface Listening {
  /** Without a slash at the end: `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Sends a signal and waits for the end: the signal or exit code. Safe to call twice. */
  stop(signal?: NodeJS.Signals): Promise<NodeJS.Signals | number | null>;
}

/**
 * Starts a server on a free port, unless `PORT` names one, and waits until it prints where it is `listening at`.
 * @throws Error with what it printed, when it ends or takes too long
 */
export async function startListening(command: Command, options: ChildOptions = {}): Promise<Listening> {
  const child = new Child(command, { ...options, environment: { PORT: '0', ...options.environment } });
  const [, url] = await child.says(/^listening at (\S+)$/m);
  return {
    url: url!,
    stop: async (name) => {
      const { code, signal } = await child.end(name);
      return signal ?? code;
    },
  };
}
