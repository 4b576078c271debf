import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../until';
import { Child } from '../processes/child';
import { freePort } from './free-port';
import { probeServer } from './probe-server';
import { reasonOf } from './reason-of';
import { lastLines } from './run-command';
import { ServerAccount } from './server-account';
import { localUrl, serverFacts, ServerKind } from './server-kind';

const START_MS = 60_000;
const STOP_MS = 15_000;
const RESTART_MS = 20_000;
/** A node of a cluster may lose its place before it is in: a service manager would start it again as well. */
const FIRST_STARTS = 3;

/** How one kind of server is set up in an empty directory and run on a port. */
export interface ServerRecipe {
  readonly kind: ServerKind;
  readonly program: string;
  readonly account: ServerAccount;
  /** The signal for a quick clean end that waits for no client. */
  readonly stopSignal: NodeJS.Signals;
  prepare(directory: string): Promise<void>;
  arguments(directory: string, port: number): string[];
}

/** A server of our own, in a temporary directory and on a free port of 127.0.0.1, which a test may kill. */
export class PrivateServer {
  readonly url: string;

  private child: Child | undefined;

  private serverVersion = '';

  private constructor(
    private readonly recipe: ServerRecipe,
    private readonly directory: string,
    readonly port: number,
  ) {
    this.url = localUrl(recipe.kind, port);
  }

  /** @throws Error with the end of the server's log when it does not answer within a minute. */
  static async start(recipe: ServerRecipe): Promise<PrivateServer> {
    const directory = mkdtempSync(join(tmpdir(), `raindrop-${recipe.kind}-`));
    const server = new PrivateServer(recipe, directory, await freePort());
    try {
      if (recipe.account.uid !== undefined && recipe.account.gid !== undefined) {
        chownSync(directory, recipe.account.uid, recipe.account.gid);
      }
      await recipe.prepare(directory);
      await server.launchFirst();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  get version(): string {
    return this.serverVersion;
  }

  /** The folder of the program that runs. */
  get origin(): string {
    return dirname(this.recipe.program);
  }

  /** The process id, another one after every restart; undefined while the server is down. */
  get pid(): number | undefined {
    return this.child?.isRunning === true ? this.child.process.pid : undefined;
  }

  /** Ends the server the hard way and returns when the process is gone; the data stay. Does nothing when it is down. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGQUIT' = 'SIGKILL'): Promise<void> {
    await this.end(signal);
  }

  /**
   * Starts the server again on the same data and port; ends it cleanly first when it still runs.
   * @param meanwhile may change its files
   */
  async restart(meanwhile?: (directory: string) => Promise<void>): Promise<void> {
    await this.end(this.recipe.stopSignal);
    await meanwhile?.(this.directory);
    // For a moment after kill -9, PostgreSQL's orphaned backends still hold its shared memory.
    const launched = async (): Promise<true> => {
      await this.launch();
      return true;
    };
    await until(`${this.recipe.kind} to start again`, launched, { withinMs: RESTART_MS });
  }

  /** Ends the server and removes its directory. Safe to call twice. */
  async stop(): Promise<void> {
    await this.end(this.recipe.stopSignal);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10 });
  }

  private async launchFirst(): Promise<void> {
    for (let start = 1; ; start += 1) {
      try {
        return await this.launch();
      } catch (error) {
        if (start === FIRST_STARTS) throw error;
      }
    }
  }

  private async launch(): Promise<void> {
    const { recipe, directory, port } = this;
    const log = openSync(this.logFile, 'a');
    const child = new Child([recipe.program, ...recipe.arguments(directory, port)], {
      ...recipe.account,
      cwd: directory,
      stdio: ['ignore', log, log],
      diesBy: recipe.stopSignal,
    });
    closeSync(log);
    // A forgotten server does not hold the run.
    child.process.unref();
    this.child = child;

    let failure: unknown;
    const deadline = Date.now() + START_MS;
    do {
      await sleep(50);
      try {
        this.serverVersion = await probeServer(recipe.kind, this.url);
        return;
      } catch (error) {
        failure = error;
      }
    } while (child.isRunning && Date.now() < deadline);

    const outcome = child.isRunning ? `did not answer within ${START_MS} ms` : 'ended before it answered';
    const reason = `${serverFacts[recipe.kind].title} (${recipe.program}) ${outcome}: ${reasonOf(failure)}`;
    await this.end('SIGKILL');
    const output = readFileSync(this.logFile, 'utf8') + child.stderr;
    const complaints = output.split('\n').filter((line) => /error|fatal/i.test(line));
    throw new Error(reason + lastLines(complaints.join('\n')) + lastLines(output));
  }

  private get logFile(): string {
    return join(this.directory, 'server.log');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child?.isRunning !== true) return;
    child.process.ref();
    await child.end(signal, STOP_MS);
  }
}
