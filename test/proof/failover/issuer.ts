import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { countIds, readIds } from '../../support/processes/id-file.js';
import { forkScript, kill } from '../../support/processes/forked.js';
import { until } from '../../support/until.js';
import { SETUP_VARIABLE, type IssuerCommand, type IssuerReport, type IssuerSetup } from './issuer-process.js';

const SCRIPT = resolve(__dirname, 'issuer-process.ts');

/** Another process that issues IDs, seen from here. */
export class Issuer {
  private readonly reports = new Map<string, number>();
  private readonly child: ChildProcess;
  private printed = '';
  private failure: string | undefined;

  /** The process opens nothing before it is told to. */
  constructor(private readonly setup: IssuerSetup) {
    this.child = forkScript(SCRIPT, {
      environment: { [SETUP_VARIABLE]: JSON.stringify(setup) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const print = (chunk: Buffer): void => void (this.printed += chunk.toString());
    this.child.stdout!.on('data', print);
    this.child.stderr!.on('data', print);
    this.child.on('message', (report: IssuerReport) => {
      if (typeof report !== 'string') this.failure = report.failure;
      else this.reports.set(report, this.count(report) + 1);
    });
  }

  get name(): string {
    return this.setup.name;
  }

  /** How many IDs it has issued. */
  get issued(): number {
    return countIds(this.setup.idsFile);
  }

  /** All IDs it has issued. */
  get ids(): BigInt64Array {
    return readIds(this.setup.idsFile);
  }

  /** How often it has reported this. */
  count(report: Exclude<IssuerReport, object>): number {
    return this.reports.get(report) ?? 0;
  }

  /** Acquires a row and issues IDs as soon, and whenever, it may. */
  open(): void {
    this.tell('open');
  }

  /** Gives the row back and issues nothing more: what it asks for after the end has been refused. */
  async close(): Promise<void> {
    const [closed, refused] = [this.count('closed'), this.count('refused')];
    this.tell('close');
    await this.until('has closed', () => this.count('closed') > closed && this.count('refused') > refused);
  }

  /** @throws Error when it does not come to that, or the process fails */
  async until(what: string, isSo: () => boolean): Promise<void> {
    const end = (): unknown => this.failure ?? this.child.exitCode ?? this.child.signalCode ?? undefined;
    await until(`${this.name} ${what}`, () => end() !== undefined || isSo(), { withinMs: 60_000 });
    if (end() !== undefined) throw new Error(`${this.name} failed: ${String(end())}\n${this.printed}`);
  }

  /** @param count so many more IDs than it had when this was called */
  async untilIssued(count: number): Promise<void> {
    const before = this.issued;
    await this.until(`issues ${count} more IDs`, () => this.issued >= before + count);
  }

  /** Ends the process. */
  stop(): Promise<void> {
    return kill(this.child);
  }

  private tell(command: IssuerCommand): void {
    this.child.send(command);
  }
}
