import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { DataSourceOptions } from 'typeorm';
import { kill } from '../../support/processes/forked.js';
import type { TestDatabase } from '../../support/servers/test-databases.js';

/** How a start ended: with a worker and an ID, or with an error, whose code is missing when it is not one of ours. */
export type StartReport = { readonly tookMs: number; readonly cpuMs: number } & (
  | { readonly workerId: number; readonly id: string }
  | { readonly workerId?: undefined; readonly errorCode?: string; readonly message: string }
);

/** What it is told: to load its code against these databases, to acquire a worker, or to give it back. */
type Order =
  | { readonly load: readonly DataSourceOptions[] }
  | { readonly options: SnowflakeModuleOptions }
  | { readonly release: true };

/** A fresh process that has loaded its code, as an application has by then, and waits to be told to acquire a worker. */
export class StarterProcess {
  private readonly child: ChildProcess = fork(resolve(__dirname, 'starter.cjs'), { execArgv: [] });

  private constructor() {}

  static async load(databases: readonly TestDatabase[]): Promise<StarterProcess> {
    const process = new StarterProcess();
    await process.ask({ load: databases.map(({ options }) => options) });
    return process;
  }

  /** Acquires a worker and issues an ID; the clock runs from before the store is made to after the ID. */
  start({ options }: TestDatabase, more: Partial<SnowflakeModuleOptions>): Promise<StartReport> {
    const given = { startTimeStamp: '2026-01-01', timeStampLength: 33, ...more, dbConfig: options };
    return this.ask({ options: given }) as Promise<StartReport>;
  }

  async release(): Promise<void> {
    await this.ask({ release: true });
  }

  kill(): Promise<void> {
    return kill(this.child);
  }

  /** @throws Error when the process ends without an answer */
  private async ask(order: Order): Promise<unknown> {
    const over = new AbortController();
    const ended = once(this.child, 'exit', { signal: over.signal }).then(([code]) => {
      throw new Error(`a process ended with ${code}, while it was to answer; are the libraries built?`);
    });
    ended.catch(() => undefined);
    const answered = once(this.child, 'message', { signal: over.signal });
    answered.catch(() => undefined);
    try {
      this.child.send(order);
      const [answer] = (await Promise.race([answered, ended])) as unknown[];
      return answer;
    } finally {
      over.abort();
    }
  }
}
