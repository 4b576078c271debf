import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { forkScript, isRunning } from '../../support/processes/forked.js';
import { HOOK } from '../../support/processes/run.js';
import { until } from '../../support/until.js';
import { SETUP_VARIABLE, type MemberCommand, type MemberReport, type MemberSetup } from './member-messages.js';

const PATIENCE_MS = 120_000;

/** One that was started and speaks for a member, or for several. */
type Link = ChildProcess | Worker;

type ReportOf<Kind> = Extract<MemberReport, { kind: Kind }>;

export interface LinkOptions {
  readonly setup: MemberSetup;
  /** Beside this file. Default the script of a single member. */
  readonly script?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Processes and threads that were started, with everything they have reported. */
export class Crew {
  /** Every ID that arrived. */
  readonly ids: bigint[] = [];
  readonly reports: Exclude<MemberReport, { kind: 'issued' }>[] = [];
  private readonly links = new Set<Link>();
  private lastBatches = 0;

  /** A process by `child_process.fork`. */
  fork({ setup, script = 'member-script.ts', environment }: LinkOptions): ChildProcess {
    const child = forkScript(resolve(__dirname, script), {
      environment: { ...environment, [SETUP_VARIABLE]: JSON.stringify(setup) },
      serialization: 'advanced',
    });
    child.once('close', () => this.links.delete(child));
    return this.join(child);
  }

  /** A thread of this process. */
  thread({ setup }: LinkOptions): Worker {
    const worker = new Worker(resolve(__dirname, 'member-script.ts'), {
      execArgv: ['--require', HOOK],
      env: { ...process.env, [SETUP_VARIABLE]: JSON.stringify(setup) },
    });
    worker.once('exit', () => this.links.delete(worker));
    return this.join(worker);
  }

  /** Settles when so many members have reported that they are ready. */
  async ready(count: number): Promise<ReportOf<'ready'>[]> {
    await this.until(`${count} are ready`, () => this.of('ready').length >= count);
    return this.of('ready');
  }

  /** Has `members` of them issue at the same time; settles when all have issued `count`. */
  async issue(count: number, members: number): Promise<void> {
    this.lastBatches = 0;
    this.tell({ do: 'issue', count });
    await this.until(`${members} have issued ${count} IDs each`, () => this.lastBatches >= members);
  }

  tell(command: MemberCommand, links: Iterable<Link> = this.links): void {
    for (const link of links) {
      if (link instanceof Worker) link.postMessage(command);
      else if (link.connected) link.send(command);
    }
  }

  /** Settles when all have ended by themselves. */
  async close(): Promise<void> {
    this.tell({ do: 'close' });
    await this.until('all have ended', () => this.links.size === 0);
  }

  /** Settles when all have ended, the hard way where they still run. */
  async end(): Promise<void> {
    for (const link of this.links) {
      if (link instanceof Worker) void link.terminate();
      else link.kill('SIGKILL');
    }
    await until('all are gone', () => this.links.size === 0);
  }

  of<Kind extends MemberReport['kind']>(kind: Kind): ReportOf<Kind>[] {
    return this.reports.filter(
      (report): report is ReportOf<Kind> & (typeof this.reports)[number] => report.kind === kind,
    );
  }

  /** @throws Error when a member failed, or nothing of the kind happened in time */
  async until(what: string, condition: () => boolean): Promise<void> {
    const isOver = (): boolean => this.of('failed').length > 0 || condition();
    await until(what, isOver, { withinMs: PATIENCE_MS }).catch((error: unknown) => {
      throw new Error(`nothing came of it; reports: ${JSON.stringify(this.reports)}`, { cause: error });
    });
    const [failure] = this.of('failed');
    if (failure !== undefined) throw new Error(`member ${failure.pid} failed: ${failure.message}`);
  }

  private join<Kind extends Link>(link: Kind): Kind {
    this.links.add(link);
    link.on('message', (report: MemberReport) => this.hear(report));
    return link;
  }

  private hear(report: MemberReport): void {
    if (report.kind === 'issued') {
      for (const id of report.ids) this.ids.push(id);
      if (report.isLast) this.lastBatches++;
    } else this.reports.push(report);
  }
}

/** Settles when a process or thread has ended. */
export async function ended(link: Link): Promise<void> {
  if (link instanceof Worker || isRunning(link)) await once(link, 'exit');
}
