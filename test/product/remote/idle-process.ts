import { resolve } from 'node:path';
import { Child } from '../../support/processes/child.js';
import { scriptCommand } from '../../support/processes/run.js';

const DEADLINE_MS = 60_000;

/** A process of its own that takes IDs from a service; see `idle-client.ts`. */
export interface IdleProcess {
  /** Settles when it has taken more than its first IDs. */
  readonly goesOn: Promise<void>;
  /** Settles when it has ended by itself: how many different IDs it got. @throws Error when it failed or was ended */
  readonly taken: Promise<number>;
}

/** @param end when it takes no more: after the first IDs, or when the service has gone */
export function startIdleProcess(port: number, end: 'once' | 'outage'): IdleProcess {
  const command = scriptCommand(resolve(__dirname, 'idle-client.ts'), [String(port), end]);
  const child = new Child(command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const taken = child.over(DEADLINE_MS).then(({ code }) => {
    if (code !== 0) throw new Error(`the client ended with ${code}; it printed: ${child.stdout}`);
    return new Set(child.stdout.trim().split('\n').at(-1)!.split(',')).size;
  });
  const goesOn = child.says(/^goes on\n/).then(() => undefined);
  // The caller that waits for the end hears of a failure there.
  goesOn.catch(() => undefined);
  return { goesOn, taken };
}
