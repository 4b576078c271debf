import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from '../../support/processes/die-with-us.js';
import { startListening, type Listening } from '../../support/processes/listening.js';
import { runCommand } from '../../support/servers/run-command.js';
import { nodeOf } from '../../orms/suite.js';

const ROOT = resolve(__dirname, '../../..');
const BUILD_TIMEOUT_MS = 170_000;

/**
 * A copy of an example, as its README says that it can be taken, with what `npm install` would fetch. It is built by its
 * own script, against the built libraries.
 */
export class BuiltExample {
  private readonly running: Listening[] = [];

  private constructor(
    /** Where the copy is. */
    readonly folder: string,
    private readonly command: Command,
  ) {}

  /**
   * @param orm the folder of test/orms whose ORM it uses, by the Node of that ORM; `npm run build:orm` has installed it
   * @throws Error with what the compiler says
   */
  static async build(name: string, orm?: string): Promise<BuiltExample> {
    // What the ORM's folder lacks, such as Nest, is found above it.
    const place = orm === undefined ? tmpdir() : join(ROOT, 'test/orms', orm, 'dist');
    const folder = mkdtempSync(join(place, `raindrop-${name}-`));
    cpSync(join(ROOT, 'examples', name), folder, {
      recursive: true,
      filter: (path) => !/(^|\/)(dist|node_modules)$|\.sqlite/.test(path),
    });
    if (orm === undefined) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      scripts: Record<'build' | 'start', string>;
    };
    const start = /^npm run --silent build && node (\S+)$/.exec(scripts.start);
    if (start === null) throw new Error(`${name} starts in a way of its own: ${scripts.start}`);
    await runCommand('npm', ['run', '--silent', 'build'], { cwd: folder, withinMs: BUILD_TIMEOUT_MS });
    return new BuiltExample(folder, [orm === undefined ? process.execPath : nodeOf(orm), join(folder, start[1]!)]);
  }

  /**
   * Starts it on a free port and waits until it listens.
   * @param folder where it keeps its database
   * @throws Error with what it printed, when it ends or takes too long
   */
  async start(folder = this.folder, environment: Readonly<Record<string, string>> = {}): Promise<Listening> {
    const started = await startListening(this.command, { cwd: folder, environment });
    this.running.push(started);
    return started;
  }

  /** Stops what is still running. */
  async stopAll(): Promise<void> {
    await Promise.all(this.running.splice(0).map((each) => each.stop()));
  }

  /** Stops what is still running and removes the copy. */
  async drop(): Promise<void> {
    await this.stopAll();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
