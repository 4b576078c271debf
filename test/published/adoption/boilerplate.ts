import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Child } from '../../support/processes/child.js';
import { hasPacked } from '../release/packed.js';
import { freePort } from '../../support/servers/free-port.js';
import { until } from '../../support/until.js';
import type { Stage } from './stage.js';

const ROOT = resolve(__dirname, '../../..');
const LISTEN_MS = 30_000;
const STOP_MS = 30_000;
const WITHOUT_SCRIPTS = { npm_config_ignore_scripts: 'true', npm_config_prefer_offline: 'true' };

export const APPLICATION = 'brocoders/nestjs-boilerplate';
export const COMMIT = '9620f159eefe38f47747d02ab162852367c5472c';
/** The version of its maildev.Dockerfile. */
const MAILDEV = 'maildev@2.0.5';

/** A real application: Nest 11, TypeORM 0.3, PostgreSQL, MIT. Users and sessions are counted, files have UUIDs. */
export class Boilerplate {
  readonly folder: string;

  private process: Child | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly databaseUrl: URL,
  ) {
    this.folder = join(stage.folder, 'app');
  }

  /**
   * Checks it out beside this repository.
   * @param from a repository that has the commit
   */
  async fetch(from: string): Promise<void> {
    const { folder } = this;
    symlinkSync(ROOT, join(this.stage.folder, 'raindrop'));
    await this.stage.run(
      `git init --quiet ${folder} && git -C ${folder} fetch --quiet --depth 1 ${from} ${COMMIT}`,
      ROOT,
    );
    await this.run(`git checkout --quiet ${COMMIT}`);
  }

  /** As its lock file says; beside it the mail server that its tests read. */
  async install(): Promise<void> {
    await this.run('npm ci --no-audit --no-fund', WITHOUT_SCRIPTS);
    const mail = `npm install --no-audit --no-fund --prefix ${this.mailFolder} ${MAILDEV}`;
    await this.stage.run(mail, this.stage.folder, WITHOUT_SCRIPTS);
  }

  /** Its own example of settings, with our addresses. Starts the mail server. */
  async configure(): Promise<void> {
    const [smtp, web] = [await freePort(), await freePort()];
    const { hostname, port, username, pathname } = this.databaseUrl;
    const settings: Record<string, string | number> = {
      APP_PORT: await freePort(),
      MAIL_HOST: '127.0.0.1',
      MAIL_PORT: smtp,
      MAIL_CLIENT_PORT: web,
      DATABASE_HOST: hostname,
      DATABASE_PORT: port,
      DATABASE_USERNAME: username,
      DATABASE_NAME: pathname.slice(1),
    };
    const example = readFileSync(join(this.folder, 'env-example-relational'), 'utf8');
    const own = example.replace(/^(\w+)=.*$/gm, (line, name: string) =>
      name in settings ? `${name}=${settings[name]}` : line,
    );
    writeFileSync(this.settingsFile, own);
    await this.stage.start(
      [join(this.mailFolder, 'node_modules/.bin/maildev'), '--ip', '127.0.0.1', '--smtp', `${smtp}`, '--web', `${web}`],
      this.stage.folder,
      /SMTP Server running/,
      { TMPDIR: this.stage.folder },
    );
  }

  /** Another database of the same server, which has to be there. */
  useDatabase(name: string): void {
    const settings = readFileSync(this.settingsFile, 'utf8');
    writeFileSync(this.settingsFile, settings.replace(/^DATABASE_NAME=.*$/m, `DATABASE_NAME=${name}`));
  }

  async migrate(): Promise<void> {
    await this.run('npm run migration:run');
  }

  async seed(): Promise<void> {
    await this.run('npm run seed:run:relational');
  }

  /** The compiler checks its types. */
  async build(): Promise<void> {
    await this.run('npm run build');
  }

  async start(): Promise<void> {
    this.process = await this.stage.start([process.execPath, 'dist/main'], this.folder, /successfully started/);
    // Nest says so before it listens.
    const answers = async (): Promise<boolean> => {
      const { ok } = await fetch(new URL('/', this.url), { signal: AbortSignal.timeout(LISTEN_MS) });
      return ok;
    };
    await until('the application to answer', answers, { withinMs: LISTEN_MS });
  }

  /** @throws Error when it does not end by itself */
  async stop(): Promise<void> {
    const { signal } = await this.process!.end('SIGTERM', STOP_MS);
    if (signal === 'SIGKILL') throw new Error(`it did not end within ${STOP_MS} ms`);
  }

  /** @returns how many of its own end-to-end tests passed, which are all */
  async endToEndTests(): Promise<number> {
    const printed = await this.run('npm run test:e2e -- --runInBand');
    const [, passed, total] = /^Tests: +(\d+) passed, (\d+) total/m.exec(printed) ?? [];
    if (passed === undefined || passed !== total) throw new Error(`not all of its tests passed:\n${printed}`);
    return Number(passed);
  }

  /** @throws Error when it has our packages from anywhere but `npm run pack` */
  hasPacked(scope: string): void {
    hasPacked(
      this.folder,
      ['core', 'nestjs', 'cli'].map((name) => `${scope}/${name}`),
    );
  }

  /** Of its sources, without what `raindrop adopt` wrote. */
  async changedLines(): Promise<string> {
    const [, added, removed] = /(\d+) insertions?\(\+\), (\d+) deletions?/.exec(
      await this.run('git diff --shortstat src'),
    )!;
    return `adds ${added} lines and removes ${removed}`;
  }

  /** The command line of Raindrop, as it is installed in the application. */
  raindrop(args: string): Promise<string> {
    return this.run(`npx --no-install raindrop ${args}`, this.shell);
  }

  /** The variables of the shell in which a person adopts it. */
  get shell(): NodeJS.ProcessEnv {
    return { DATABASE_URL: this.databaseUrl.href, ...WITHOUT_SCRIPTS };
  }

  run(command: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
    return this.stage.run(command, this.folder, environment);
  }

  get url(): string {
    const [, port] = /^APP_PORT=(\d+)$/m.exec(readFileSync(this.settingsFile, 'utf8'))!;
    return `http://localhost:${port}/api/v1`;
  }

  private get mailFolder(): string {
    return join(this.stage.folder, 'mail');
  }

  private get settingsFile(): string {
    return join(this.folder, '.env');
  }
}
