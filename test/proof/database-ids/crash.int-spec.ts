import type { PrivateServer } from '../../support/servers/private-server.js';
import { startPostgres } from '../../support/servers/private-servers.js';
import { type Answer, type Installation, IssuingDatabase } from './issuing-database.js';

const NOON = '2026-03-01 12:00:00Z';

/** The clock goes on by less than a second: without a rule the tick of before would be used again. */
const SOON_AFTER = '2026-03-01 12:00:00.500Z';

const WIDE = { startTimeStamp: '2024-01-01', timeUnit: 'second', timeStampLength: 33, workIdLength: 10 } as const;

describe('IDs that PostgreSQL makes, when the server is killed', () => {
  let server: PrivateServer;

  beforeAll(async () => {
    server = await startPostgres();
  });

  afterAll(() => server.stop());

  /** The process of the server that writes its log. */
  async function logWriter(database: IssuingDatabase): Promise<number> {
    const [found] = await database.run("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
    return Number(found!['pid']);
  }

  /** What was returned before kill -9, and what is returned soon after the server has started again. */
  async function acrossCrash(
    installation: Installation,
  ): Promise<{ before: Answer[]; soon: Answer[]; later: Answer[] }> {
    const database = await IssuingDatabase.open({ options: WIDE, url: server.url, stoppedAt: NOON, ...installation });
    await database.run('CHECKPOINT');
    const session = await database.session();
    const log = await logWriter(database);
    // Nothing writes the log to the disk: no commit, and not its own process, which does so for a session that dies.
    process.kill(log, 'SIGSTOP');
    await session.run('BEGIN');
    const before = await session.draw(5_000);
    await server.kill();
    process.kill(log, 'SIGKILL');
    await server.restart();
    await database.reconnect();
    await database.stopClock(SOON_AFTER);
    const again = await database.session();
    const soon = await again.draw(5_000);
    await database.stopClock('2026-03-01 12:00:10Z');
    const later = await again.draw(5_000);
    await database.close();
    return { before, soon, later };
  }

  it('come only when the clock has passed all that may have been issued', async () => {
    const { before, soon, later } = await acrossCrash({});

    expect(soon).toEqual(['RD001']);
    expect(later).toHaveLength(5_000);
    expect(new Set([...before, ...later]).size).toBe(10_000);
  });

  it('come twice where the open tick is not forgotten, in transactions that were not committed', async () => {
    const { before, soon } = await acrossCrash({
      broken: (sql) => sql.replace('CREATE UNLOGGED SEQUENCE', 'CREATE SEQUENCE'),
    });

    expect(soon.filter((id) => before.includes(id))).not.toEqual([]);
  });

  it('never come twice in rows that were committed, though the open tick is not forgotten', async () => {
    const database = await IssuingDatabase.open({
      options: WIDE,
      url: server.url,
      stoppedAt: NOON,
      broken: (sql) => sql.replace('CREATE UNLOGGED SEQUENCE', 'CREATE SEQUENCE'),
    });
    await database.run('CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT raindrop_id(), n int)');
    await database.run('INSERT INTO orders (n) SELECT generate_series(1, 5000)');
    await server.kill();
    await server.restart();
    await database.reconnect();
    await database.run('INSERT INTO orders (n) SELECT generate_series(1, 5000)');

    expect(await database.run('SELECT count(*)::int AS rows FROM orders')).toEqual([{ rows: 10_000 }]);
    await database.close();
  });
});
