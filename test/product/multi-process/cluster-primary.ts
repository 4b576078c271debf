import cluster, { type Worker } from 'node:cluster';
import { resolve } from 'node:path';
import { Member } from './member.js';
import type { MemberCommand, MemberReport } from './member-messages.js';

/** Set where the primary is to hold a worker of its own before it forks. */
export const PRIMARY_HOLDS_VARIABLE = 'RAINDROP_TEST_PRIMARY_HOLDS';

const WORKERS = 4;

/** The primary of a cluster: hands commands to its workers and their reports to the process that started it. */
async function main(): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  const own = process.env[PRIMARY_HOLDS_VARIABLE] === 'yes' ? await Member.start() : undefined;
  cluster.setupPrimary({ exec: resolve(__dirname, 'member-script.ts'), serialization: 'advanced' });
  for (let worker = 0; worker < WORKERS; worker++) cluster.fork();
  cluster.on('message', (_, report: MemberReport) => process.send!(report));
  cluster.on('exit', (worker) => {
    if (worker.process.signalCode !== null) cluster.fork();
    // With the last worker the channel goes: nothing else keeps the primary.
    else if (workers().length === 0) process.removeAllListeners('disconnect').disconnect();
  });
  process.on('message', (command: MemberCommand) => {
    void own?.obey(command);
    for (const worker of workers()) worker.send(command);
  });
}

function workers(): Worker[] {
  return Object.values(cluster.workers!).filter((worker) => worker !== undefined);
}

if (require.main === module) void main();
