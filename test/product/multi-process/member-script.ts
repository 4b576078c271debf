import { isMainThread, parentPort } from 'node:worker_threads';
import { Member, tell } from './member.js';
import type { MemberCommand } from './member-messages.js';

/** A process or thread with one {@link Member}; it ends by itself after `close`, and when its parent is gone. */
async function main(): Promise<void> {
  const orphaned = (): never => process.exit(1);
  const fallSilent = (): void => {
    process.off('disconnect', orphaned);
    if (parentPort !== null) parentPort.close();
    else process.disconnect?.();
  };
  if (isMainThread) process.on('disconnect', orphaned);
  try {
    const member = await Member.start();
    (parentPort ?? process).on('message', (command: MemberCommand) => {
      void member
        .obey(command)
        .catch((error: unknown) => tell({ kind: 'failed', message: String(error) }))
        .finally(() => {
          if (command.do === 'close') fallSilent();
        });
    });
  } catch (error) {
    tell({ kind: 'failed', message: String(error) });
    fallSilent();
  }
}

void main();
