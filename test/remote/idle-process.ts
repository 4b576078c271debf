import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const DEADLINE_MS = 60_000;

/** A process of its own that takes IDs from a service; see `idle-client.ts`. */
export interface IdleProcess {
  /** Settles when it has taken more than its first IDs. */
  readonly goesOn: Promise<void>;
  /** Settles when it has ended by itself: how many different IDs it got. @throws Error when it failed or was ended */
  readonly taken: Promise<number>;
}

/** @param end when it takes no more: after the first IDs, or when the service has gone */
export function startIdleProcess(way: string, port: number, end: 'once' | 'outage'): IdleProcess {
  const hook = resolve(__dirname, '../typescript-hook.cjs');
  const args = ['--require', hook, resolve(__dirname, 'idle-client.ts'), way, String(port), end];
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, args, { stdio: [...stdio], timeout: DEADLINE_MS });
  let printed = '';
  const taken = once(child, 'close').then(([code]) => {
    if (code !== 0) throw new Error(`the client ended with ${code}; it printed: ${printed}`);
    return new Set(printed.trim().split('\n').at(-1)!.split(',')).size;
  });
  const goesOn = new Promise<void>((settle, fail) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.startsWith('goes on\n')) settle();
    });
    taken.then(() => settle(), fail);
  });
  // Whoever waits for the end hears of a failure there.
  goesOn.catch(() => undefined);
  return { goesOn, taken };
}
