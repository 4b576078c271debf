import { spawn } from 'node:child_process';
import { once } from 'node:events';
import globalSetup from '../jest/global-setup';
import globalTeardown from '../jest/global-teardown';

/**
 * Runs a command with the servers of a test run, which it finds in the variables of the tests, and ends with its exit
 * code: `node --require ./test/typescript-hook.cjs test/support/servers/with-servers.ts COMMAND...`.
 */
async function main([program, ...args]: readonly string[]): Promise<void> {
  if (program === undefined) throw new Error('no command given');
  await globalSetup();
  try {
    const child = spawn(program, args, { stdio: 'inherit' });
    // Its end is waited for, and then the servers are stopped.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
    const [code] = (await once(child, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } finally {
    await globalTeardown();
  }
}

void main(process.argv.slice(2));
