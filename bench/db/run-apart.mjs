import { fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * `run` in a process of its own.
 * @throws Error when that fails, or `signal` has ended it
 */
export async function runApart(options, { signal, onRows }) {
  const child = fork(new URL('child.mjs', import.meta.url), [JSON.stringify(options)]);
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  let result;
  child.on('message', (message) => {
    if (message.result === undefined) onRows(message);
    else result = message.result;
  });
  try {
    const [code] = await once(child, 'exit');
    signal.throwIfAborted();
    if (result === undefined) throw new Error(`${options.kind} on ${options.database} failed (exit code ${code})`);
    return result;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
