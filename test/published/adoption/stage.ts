import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '../../support/processes/die-with-us.js';
import { Child } from '../../support/processes/child.js';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { startPostgres } from '../../support/servers/private-servers.js';
import { lastLines } from '../../support/servers/run-command.js';

/** What fetches packages, or compiles on a busy machine, may take so long. */
const COMMAND_MS = 300_000;
const START_MS = 120_000;

type Environment = NodeJS.ProcessEnv;

/** A folder, a database and processes, which all go away with it. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'raindrop-adoption-'));

  private readonly children = new Set<Child>();

  private server: PrivateServer | undefined;

  /** @returns the URL of a PostgreSQL of its own */
  async database(): Promise<string> {
    this.server = await startPostgres();
    return this.server.url;
  }

  /**
   * Runs a command line to its end.
   * @returns all that it printed
   * @throws Error with the last lines, unless it ends with 0
   */
  async run(command: string, cwd: string, environment: Environment = {}): Promise<string> {
    const child = this.child(['bash', '-c', command], cwd, environment);
    const { code, signal } = await child.over(COMMAND_MS);
    if (code !== 0) throw new Error(`${command} ended with ${signal ?? code}${lastLines(child.printed, 30)}`);
    return child.printed;
  }

  /** Starts a server. @throws Error with what it printed when it does not say in time that it is ready */
  async start(command: Command, cwd: string, ready: RegExp, environment: Environment = {}): Promise<Child> {
    const child = this.child(command, cwd, environment);
    await child.says(ready, START_MS);
    return child;
  }

  /** What those that still run have printed last, for an error. */
  get lastWords(): string {
    return [...this.children].map(({ printed }) => lastLines(printed, 20)).join('\n');
  }

  /** Ends all that still runs. */
  async close(): Promise<void> {
    await Promise.all([...this.children].map((child) => child.end('SIGKILL')));
    await this.server?.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  private child(command: Command, cwd: string, environment: Environment): Child {
    // As a shell has it: some applications look for their files there.
    const child = new Child(command, { cwd, environment: { PWD: cwd, ...environment }, hasGroup: true });
    this.children.add(child);
    void child.ended.then(() => this.children.delete(child));
    return child;
  }
}
