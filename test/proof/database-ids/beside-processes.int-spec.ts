import { mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IdService, openIdService, parseId } from '@raindrop/node';
import { OPTIONS } from '../../support/module/module-fixture.js';
import { IssuingDatabase, type IssuingSession } from './issuing-database.js';

const SESSIONS = 16;

/** The highest worker of 5 bits. */
const WORKER = 31;

describe('IDs that PostgreSQL makes, beside processes', () => {
  let database: IssuingDatabase;
  const services: IdService[] = [];

  beforeEach(async () => {
    database = await IssuingDatabase.open({ options: OPTIONS, isAsItIs: true });
    await database.run('CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT raindrop_id(), n int)');
    await database.run('CREATE TABLE audit (id bigint PRIMARY KEY DEFAULT raindrop_id(), order_id bigint)');
    await database.run(
      `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN INSERT INTO audit (order_id) VALUES (NEW.id); RETURN NEW; END $$`,
    );
    await database.run('CREATE TRIGGER noted AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION note()');
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((each) => each.close()));
    await database.close();
  });

  it('never come twice: 16 sessions by INSERT, COPY, triggers and rolled back transactions, 2 services', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'raindrop-copy-'));
    const file = join(folder, 'orders.csv');
    writeFileSync(file, Array.from({ length: 200 }, (_, row) => `${row}\n`).join(''));
    // The server's account reads it.
    chmodSync(folder, 0o755);
    const issued: bigint[] = [];
    const rolledBack: bigint[] = [];
    const work = async (session: IssuingSession): Promise<void> => {
      for (let round = 0; round < 4; round++) {
        await session.run('INSERT INTO orders (n) SELECT generate_series(1, 200)');
        await session.run(`COPY orders (n) FROM '${file}'`);
        await session.run('BEGIN');
        const rows = await session.run('INSERT INTO orders (n) SELECT generate_series(1, 200) RETURNING id::text');
        rolledBack.push(...rows.map(({ id }) => BigInt(id as string)));
        await session.run('ROLLBACK');
      }
    };
    services.push(
      await openIdService({ ...OPTIONS, dbConfig: database.settings }),
      await openIdService({ ...OPTIONS, dbConfig: database.settings }),
    );
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => database.session()));
    const working = Promise.all(sessions.map(work));
    for (let round = 0; round < 20; round++) {
      for (const service of services) issued.push(...service.nextIds(500));
    }
    await working;
    rmSync(folder, { recursive: true });

    const rows = await database.run('SELECT id::text FROM orders UNION ALL SELECT id::text FROM audit');
    const stored = rows.map(({ id }) => BigInt(id as string));
    expect(stored).toHaveLength(SESSIONS * 4 * 800);
    expect(rolledBack).toHaveLength(SESSIONS * 4 * 200);
    expect(issued).toHaveLength(20_000);
    const all = [...stored, ...rolledBack, ...issued];
    expect(new Set(all).size).toBe(all.length);
    const { layout } = services[0]!;
    const workers = new Set(stored.map((id) => parseId(layout, id).workerId));
    expect(workers).toEqual(new Set([WORKER]));
    expect(new Set(issued.map((id) => parseId(layout, id).workerId))).not.toContain(WORKER);
  });
});
