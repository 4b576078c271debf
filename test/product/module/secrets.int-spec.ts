import type { DynamicModule, Type } from '@nestjs/common';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { inspect } from 'node:util';
import { SECRET, serverTrouble, wrongImports, wrongOptions } from './failing-starts.js';
import { limitedAccount, type LimitedAccount, type ServerOptions } from '../../support/module/limited-account.js';
import { LogCapture } from './log-capture.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

/** An object as a log shows it that leaves nothing out. */
const everything = (value: unknown): string =>
  inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null }) + JSON.stringify(value);

/** Everything that an error says, with what it was caused by. */
function wordsOf(error: unknown): string {
  const words = [everything(error), String(error)];
  for (let each: unknown = error; each instanceof Error; each = each.cause) words.push(each.message, each.stack ?? '');
  return words.join('\n');
}

/** Starts and closes an application; all that was to be read meanwhile. */
async function readable(imports: (DynamicModule | Type)[], log: LogCapture): Promise<string> {
  const words: string[] = [];
  try {
    const app = await startApp(imports, [], log);
    const ids = app.get(IdService);
    await new Promise((resolve) => ids.events.once('lease-renewed', resolve));
    words.push(everything(ids), everything(ids.status()), everything(ids.layout));
    await app.close();
    words.push(everything(ids));
  } catch (error) {
    words.push(wordsOf(error));
  }
  return [...words, ...log.lines].join('\n');
}

/** Nest's own logger, with all its levels. */
const QUICK = { ...OPTIONS, heartbeatIntervalMs: 100, logger: undefined };

describe.each(['mariadb', 'postgres'] as const)('Passwords of %s', (kind) => {
  const database = useDatabase(kind, 'suite');
  let account: LimitedAccount;
  const admin = (): ServerOptions => database.options as ServerOptions;
  const url = (): string => {
    const { host, port, username, password, database: name } = account.options;
    return `${kind}://${username}:${password as string}@${host}:${port}/${name as string}`;
  };

  beforeAll(async () => {
    account = await limitedAccount(kind, admin(), SECRET);
  });

  afterAll(() => account.drop());

  const failing = [
    ...wrongOptions(() => account.options),
    ...wrongImports(() => account.options),
    ...serverTrouble(() => ({ admin: admin(), limited: account.options })),
  ];

  it.each(failing.map((each) => [each.title, each.imports] as const))('are not shown by %s', async (_, imports) => {
    const words = await readable(imports(), new LogCapture());
    expect(words.includes(SECRET)).toBe(false);
  });

  describe('whose account may work', () => {
    beforeAll(() => account.mayCreate());

    const running = (dbConfig: unknown): DynamicModule => RaindropModule.forRoot({ ...QUICK, dbConfig } as never);
    it.each([
      ['dbConfig', () => [running(account.options)]],
      ["dbConfig's URL", () => [running(url())]],
      ['the DataSource', () => [typeorm(account.options), running(undefined)]],
    ])('are not shown by an application that runs, given in %s, at any level', async (_, imports) => {
      const log = new LogCapture();
      const words = await readable(imports(), log);
      expect(log.lines.some((line) => line.startsWith('log Worker'))).toBe(true);
      expect(words).toContain('held');
      expect(words.includes(SECRET)).toBe(false);
    });

    it('are not shown when the database no longer takes them, nor by the least that a logger can be', async () => {
      const log = new LogCapture();
      const module = RaindropModule.forRoot({ ...QUICK, dbConfig: url(), logger: log.minimal });
      const app = await startApp([module], [], log);
      const ids = app.get(IdService);
      const refused = new Promise<void>((resolve) => {
        ids.events.on('lease-trouble', ({ error }) => {
          if (error.errorCode === 'DATABASE_REFUSED') resolve();
        });
      });
      await account.lock();
      await refused;
      const words = [everything(ids), wordsOf(ids.status().lastError), ...log.lines].join('\n');
      expect(words).toContain('Check user and password in dbConfig');
      expect(words.includes(SECRET)).toBe(false);

      const renewed = new Promise((resolve) => ids.events.once('lease-renewed', resolve));
      await account.unlock();
      await renewed;
      await app.close();
      expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([]);
    });
  });
});
