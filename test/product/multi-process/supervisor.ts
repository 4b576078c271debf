import type { ChildProcess } from 'node:child_process';
import type { Crew } from './crew.js';
import { ended } from './crew.js';
import type { MemberSetup } from './member-messages.js';

/** One place of a supervisor's: the same NODE_APP_INSTANCE however often its process is replaced. */
export interface Instance {
  readonly number: number;
  process: ChildProcess;
}

/**
 * Starts and replaces processes the way PM2 does in cluster mode: with NODE_APP_INSTANCE in the environment, the end
 * asked for with SIGINT and enforced with SIGKILL after the kill timeout. Every process issues IDs all the time.
 */
export class Supervisor {
  readonly instances: Instance[] = [];
  /** Processes that outlived the kill timeout. */
  readonly killed: number[] = [];
  private started = 0;

  constructor(
    private readonly crew: Crew,
    private readonly setupOf: (instance: number) => MemberSetup,
    private readonly killTimeoutMs: (instance: number) => number,
  ) {}

  async start(count: number): Promise<void> {
    for (let number = 0; number < count; number++) {
      this.instances.push({ number, process: await this.launch(number) });
    }
  }

  /** `pm2 restart`: each instance is ended, then started again. */
  async restart(): Promise<void> {
    for (const instance of this.instances) {
      await this.end(instance);
      instance.process = await this.launch(instance.number);
    }
  }

  /** `pm2 reload` with `wait_ready`: each successor is ready before its predecessor is ended; both issue meanwhile. */
  async reload(): Promise<void> {
    for (const instance of this.instances) {
      const predecessor = { ...instance };
      instance.process = await this.launch(instance.number);
      await this.end(predecessor);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.instances.map((instance) => this.end(instance)));
  }

  private async launch(number: number): Promise<ChildProcess> {
    const environment = { NODE_APP_INSTANCE: String(number), pm_id: String(number) };
    const child = this.crew.fork({ setup: this.setupOf(number), environment });
    await this.crew.ready(++this.started);
    this.crew.tell({ do: 'stream' }, [child]);
    return child;
  }

  private async end({ number, process: child }: Instance): Promise<void> {
    child.kill('SIGINT');
    const impatience = setTimeout(() => {
      this.killed.push(child.pid!);
      child.kill('SIGKILL');
    }, this.killTimeoutMs(number));
    await ended(child);
    clearTimeout(impatience);
  }
}
