import { TypeOrmModule } from '@nestjs/typeorm';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, threadId } from 'node:worker_threads';
import { SILENT, startApp } from '../../support/module/start-app.js';
import { SETUP_VARIABLE, type MemberCommand, type MemberNews, type MemberSetup } from './member-messages.js';

/** IDs that are issued without letting go of the event loop. */
const BATCH = 500;

/** An application with the real module, in this process or thread, which does what it is told. */
export class Member {
  private constructor(
    private readonly app: { close(): Promise<void> },
    private readonly ids: IdService,
  ) {}

  /** Starts the application of {@link MemberSetup} and reports that it is ready. */
  static async start(): Promise<Member> {
    const setup = JSON.parse(process.env[SETUP_VARIABLE]!) as MemberSetup;
    const app = await startApp([
      TypeOrmModule.forRoot({ ...setup.database, retryAttempts: 0 }),
      RaindropModule.forRoot({ ...setup.options, logger: SILENT }),
    ]);
    // Signals reach a process, not a thread.
    if (isMainThread && setup.onSigint !== 'ignore') app.enableShutdownHooks();
    else if (isMainThread) process.on('SIGINT', () => {});
    const ids = app.get(IdService);
    tell({ kind: 'ready', workerId: ids.workerId! });
    return new Member(app, ids);
  }

  async obey(command: MemberCommand): Promise<void> {
    if (command.do === 'close') await this.close();
    else await this.issue(command.do === 'issue' ? command.count : Number.POSITIVE_INFINITY);
  }

  /** Issues `count` IDs little by little, until a signal has closed the application. */
  private async issue(count: number): Promise<void> {
    for (let left = count; left > 0 && this.ids.status().state !== 'closed'; left -= BATCH) {
      tell({ kind: 'issued', ids: this.ids.fill(new BigInt64Array(Math.min(left, BATCH))), isLast: left <= BATCH });
      await sleep(2);
    }
  }

  private async close(): Promise<void> {
    await this.app.close();
    tell({ kind: 'closed' });
  }
}

/** Reports to the process or thread that started this one. */
export function tell(news: MemberNews): void {
  const report = { ...news, pid: process.pid, threadId };
  if (parentPort !== null) parentPort.postMessage(report);
  else process.send?.(report);
}
