import {
  databaseIdSql,
  fenceWorkers,
  type IdService,
  openIdService,
  readWorkers,
  type SnowflakeModuleOptions,
} from '@raindrop/node';
import { SILENT } from '../../support/module/start-app.js';
import { until } from '../../support/until.js';
import { type Answer, IssuingDatabase, type IssuingSession, SMALL, steered } from './issuing-database.js';

const TABLE = 'soc_raindrop_worker';

/** The highest worker of 10 bits. */
const WORKER = 1_023;

describe('the installation of a function that makes IDs', () => {
  let database: IssuingDatabase;
  let session: IssuingSession;
  const services: IdService[] = [];

  beforeEach(async () => {
    database = await IssuingDatabase.open({ isInstalled: false });
    session = await database.session();
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((each) => each.close()));
    await database.close();
  });

  const optionsOf = (more: SnowflakeModuleOptions = {}): SnowflakeModuleOptions => ({
    ...SMALL,
    logger: SILENT,
    dbConfig: database.settings,
    ...more,
  });

  async function serve(more: SnowflakeModuleOptions = {}): Promise<IdService> {
    const service = await openIdService(optionsOf(more));
    services.push(service);
    return service;
  }

  /** The refusal of an installation: SQLSTATE and message. */
  async function refusal(options: SnowflakeModuleOptions = SMALL, ids = {}): Promise<string> {
    return database.install(options, ids).then(
      () => 'none',
      (error: unknown) => {
        const { code, message } = error as { code: string; message: string };
        return `${code} ${message}`;
      },
    );
  }

  const tickOf = (id: unknown): bigint => (id as bigint) >> 15n;

  it('keeps its worker id from every process', async () => {
    await database.install();

    await expect(serve({ serviceMinWorkId: WORKER, serviceMaxWorkId: WORKER, waitForWorkerMs: 0 })).rejects.toThrow();
    const { workers } = await readWorkers(optionsOf());
    expect(workers.find(({ workerId }) => workerId === WORKER)).toMatchObject({
      state: 'database',
      holder: 'public.raindrop_id',
    });
  });

  it('is refused where a process holds the worker id, and names it', async () => {
    await serve({ serviceMinWorkId: WORKER, serviceMaxWorkId: WORKER });

    expect(await refusal()).toMatch(/^RD002 worker 1023 is held by /);
  });

  it('begins after the last IDs of a process that has given the worker id back', async () => {
    const service = await serve({ serviceMinWorkId: WORKER, serviceMaxWorkId: WORKER });
    const before = service.nextIds(5);
    await service.close();
    await database.install();
    await database.stepClock(5_000);

    const [id] = await session.draw();
    expect(tickOf(id)).toBeGreaterThan(tickOf(before.at(-1)));
  });

  it.each([
    ['a row that is marked deleted', `UPDATE ${TABLE} SET del_flag = 1 WHERE id = ${WORKER}`, 'is marked deleted'],
    [
      'a row that another program wrote last',
      `UPDATE ${TABLE} SET code = 'theirs', version = 9 WHERE id = ${WORKER}`,
      'another program wrote',
    ],
    ['a sequence with such a name', 'CREATE SEQUENCE raindrop_id_tick', 'exist, which do not make the IDs'],
    [
      'a function with such a name',
      `CREATE FUNCTION raindrop_id_open(seen bigint) RETURNS void LANGUAGE sql AS ''`,
      'exist, which do not make the IDs',
    ],
    ['no state table', `DROP TABLE ${TABLE}_state`, 'there is no worker table'],
  ])('is refused by %s', async (_what, sql, message) => {
    await database.run(`INSERT INTO ${TABLE} (id, own_version) VALUES (${WORKER}, 1)`);
    await database.run(sql);

    const said = await refusal();
    expect(said).toMatch(/^RD002 /);
    expect(said).toContain(message);
    expect(await database.run(`SELECT code FROM ${TABLE} WHERE code = 'database'`)).toEqual([]);
  });

  it('is refused above READ COMMITTED, and in a schema that does not exist', async () => {
    await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await expect(session.run(databaseIdSql(SMALL))).rejects.toMatchObject({ code: 'RD002' });

    expect(await refusal(SMALL, { name: 'nowhere.raindrop_id' })).toMatch(/^RD002 .*schema that exists.*nowhere/);
  });

  it('is refused on a table of another layout, unless a process runs with this one, or end bits tell them apart', async () => {
    const other = { ...SMALL, workIdLength: 9 };
    const theirs = await serve(other);
    expect(await refusal()).toContain('RD002 processes hold rows with other layouts: ');
    await theirs.close();
    expect(await refusal()).toContain('no process holds a row with');

    const apart = { ...SMALL, endBitsValue: 1 };
    await database.run(`DELETE FROM ${TABLE}_layout; UPDATE ${TABLE} SET layout = '', code = ''`);
    const service = await serve(apart);
    service.nextId();
    expect(await refusal()).toBe('none');
  });

  it('shuts out a process that begins with another layout', async () => {
    await database.install();
    await session.draw();

    await expect(serve({ ...SMALL, workIdLength: 9 })).rejects.toMatchObject({ errorCode: 'LAYOUT_CONFLICT' });
  });

  it('sees at the first ID a process that has begun with another layout meanwhile', async () => {
    await session.run('BEGIN');
    await session.run(steered(databaseIdSql(SMALL)));
    await serve({ ...SMALL, workIdLength: 9 });
    await session.run('COMMIT');

    expect(await session.draw()).toEqual(['RD002']);
  });

  describe('beside a layout of the past that comes back before the installation is committed', () => {
    const ids = { workerId: 1_022 };
    const here = { serviceMinWorkId: 3, serviceMaxWorkId: 3 };
    /** Its IDs are those that SMALL has 2 s later. Its worker 511 is worker 1022 of SMALL. */
    const former = { ...SMALL, workIdLength: 9, startTimeStamp: '2023-12-31T23:59:58Z' };

    /** Its IDs, and those of the function at their time. */
    async function issuedByBoth(broken = (sql: string) => sql): Promise<{ theirs: Answer[]; ours: Answer[] }> {
      await (await serve({ ...former, ...here })).close();
      const own = await until('the later layout to start', () => serve(here));
      await session.run('BEGIN');
      await session.run(broken(steered(databaseIdSql(SMALL, ids))));
      await own.close();
      const returned = await serve({ ...former, serviceMinWorkId: 511, serviceMaxWorkId: 511 });
      const theirs = returned.nextIds(8);
      await returned.close();
      await session.run('COMMIT');
      await database.stopClock(new Date(Date.UTC(2024, 0, 1) + Number(tickOf(theirs[0])) * 1_000).toISOString());
      return { theirs, ours: await session.draw(4) };
    }

    it('makes no ID until a process with its own layout runs again', async () => {
      const { theirs, ours } = await issuedByBoth();
      expect(ours).toEqual(['RD002']);
      await session.fence();
      expect(await session.draw()).toEqual(['RD002']);

      await until('its own layout to start', () => serve(here));
      await database.stopClock(new Date(Date.now() + 10_000).toISOString());
      const later = await session.draw(8);
      expect(new Set([...theirs, ...later]).size).toBe(16);
    });

    it('repeats its IDs where it asks for no such process', async () => {
      const { theirs, ours } = await issuedByBoth((sql) => sql.replace("IF accepted <> '' AND", 'IF false AND'));

      expect(theirs).toContain(ours[0]);
    });
  });

  it('gives a row of its own to a second function, and the same row to none', async () => {
    await database.install();

    expect(await refusal(SMALL, { name: 'other_id' })).toMatch(
      /^RD002 worker 1023 belongs to the function public.raindrop_id/,
    );
    await database.install(SMALL, { name: 'other_id', workerId: 7 });
    const [row] = await database.run('SELECT other_id()::text AS id, raindrop_id()::text AS own');
    expect((BigInt(row!['id'] as string) >> 5n) & 1_023n).toBe(7n);
    expect((BigInt(row!['own'] as string) >> 5n) & 1_023n).toBe(1_023n);
  });

  it('can be run again beside callers, and grants its rights to more roles', async () => {
    await database.install();
    const before = await session.draw(5);
    await database.run(`CREATE ROLE raindrop_app_${process.pid} LOGIN`);
    try {
      const role = `raindrop_app_${process.pid}`;
      await expect(session.run(`SET ROLE ${role}; SELECT raindrop_id()`)).rejects.toMatchObject({ code: '42501' });
      await session.run('RESET ROLE');
      await database.install(SMALL, { grantTo: [role] });
      // The test's clock is read with the rights of the caller.
      await database.run(`GRANT SELECT ON SEQUENCE test_clock_offset TO ${role}`);
      await session.run(`SET ROLE ${role}`);
      const after = await session.draw(9);
      await session.run('RESET ROLE');
      expect(after).toHaveLength(9);
      expect(new Set([...before, ...after]).size).toBe(14);
    } finally {
      await database.run(`DROP OWNED BY raindrop_app_${process.pid}; DROP ROLE raindrop_app_${process.pid}`);
    }
  });

  it('makes no ID before its transaction is committed, and none after a rollback', async () => {
    await session.run('BEGIN');
    await session.run(steered(databaseIdSql(SMALL)));
    await session.run('SAVEPOINT here');
    expect(await session.draw()).toEqual(['RD001']);
    await session.run('ROLLBACK');

    expect(await session.draw()).toEqual(['42883']);
    expect(await database.run(`SELECT id FROM ${TABLE}`)).toEqual([]);
  });

  it.each([
    ['ALTER SEQUENCE raindrop_id_position CACHE 20'],
    ['ALTER SEQUENCE raindrop_id_position RESTART'],
    ['ALTER SEQUENCE raindrop_id_tick SET LOGGED'],
    ['ALTER SEQUENCE raindrop_id_tick RESTART'],
  ])('refuses after %s, until it is installed again', async (alter) => {
    await database.install();
    const before = await session.draw(9);
    await database.run(alter);
    await database.stepClock(3_000);
    expect(await session.draw()).toEqual(['RD002']);

    await database.install();
    await database.stepClock(6_000);
    const after = await session.draw(9);
    expect(new Set([...before, ...after]).size).toBe(18);
  });

  it('goes on after all that was issued ahead of the clock, when the counter was set back', async () => {
    await database.install();
    await database.stepClock(3_600_000);
    const before = await session.draw(8);
    await database.stepClock(-3_600_000);
    await database.run('ALTER SEQUENCE raindrop_id_position RESTART');
    await database.install();

    await database.stopClock(new Date(Date.UTC(2024, 0, 1) + Number(tickOf(before[0])) * 1_000).toISOString());
    const after = await session.draw(8);
    expect(after).toHaveLength(8);
    expect(new Set([...before, ...after]).size).toBe(16);
  });

  it('keeps the grants of its callers, and their rules, when its sequences are made anew', async () => {
    const role = `raindrop_caller_${process.pid}`;
    await database.run(`CREATE ROLE ${role}; GRANT SELECT ON SEQUENCE test_clock_offset TO ${role}`);
    try {
      await database.install(SMALL, { grantTo: [role] });
      await database.run(`ALTER SEQUENCE raindrop_id_position INCREMENT 7 MAXVALUE 9223372036854775000 CACHE 5 CYCLE;
        ALTER SEQUENCE raindrop_id_position SET UNLOGGED; ALTER SEQUENCE raindrop_id_tick SET LOGGED`);
      await database.install();
      await database.stepClock(6_000);

      await session.run(`SET ROLE ${role}`);
      expect(await session.draw(8)).toHaveLength(8);
      await session.run('RESET ROLE');
      const [found] = await database.run(`SELECT string_agg(relpersistence, '' ORDER BY relname) AS kept,
        bool_and(seqincrement = 1 AND seqcache = 1 AND NOT seqcycle AND seqmax = 9223372036854775807) AS is_new
        FROM pg_class JOIN pg_sequence ON seqrelid = oid WHERE relname LIKE 'raindrop_id%'`);
      expect(found).toEqual({ kept: 'pu', is_new: true });
    } finally {
      await session.run('RESET ROLE');
      await database.run(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('refuses when its sequences are gone: they knew how far it has come', async () => {
    await database.install();
    await session.draw();
    await database.run('DROP SEQUENCE raindrop_id_position, raindrop_id_tick');

    expect(await refusal()).toContain(
      'RD002 the sequences of public.raindrop_id, or its function raindrop_id_open, are gone',
    );
  });

  it('is fenced also where only the function that callers name was dropped, and installed again after the fence', async () => {
    await database.install();
    await session.draw();
    await database.run('DROP FUNCTION raindrop_id()');
    await fenceWorkers(optionsOf());
    await database.install();

    expect(await session.draw()).toEqual(['RD001']);
  });

  it('tells a transaction that began before its installation to begin anew', async () => {
    await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    await database.install();

    expect(await session.draw()).toEqual(['RD001']);
    await session.run('ROLLBACK');
    expect(typeof (await session.draw())[0]).toBe('bigint');
  });

  it('refuses when its row was restored, in REPEATABLE READ too, until it is fenced and installed again', async () => {
    await database.install();
    const before = await session.draw(9);
    const batch = await database.session();
    await batch.run('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await batch.run('SELECT 1');
    await database.run(
      `UPDATE ${TABLE} SET del_flag = 2, code = '', holder = '', odo0_ms = 0, odo0_seq = -1 WHERE id = ${WORKER}`,
    );
    await database.stepClock(3_000);
    expect(await batch.draw()).toEqual(['40001']);
    expect(await session.draw()).toEqual(['RD002']);

    await fenceWorkers(optionsOf());
    await database.install();
    expect(await session.draw()).toEqual(['RD001']);
    await database.stepClock(600_000);
    const after = await session.draw(9);
    expect(new Set([...before, ...after]).size).toBe(18);
  });

  it('is fenced with the table: it makes no ID up to the end of the fence, nor one twice', async () => {
    await database.install();
    const before = await session.draw(9);
    await fenceWorkers(optionsOf());
    const [state] = await database.run(`SELECT fenced_until_ms::float8 AS until FROM ${TABLE}_state`);
    expect(await session.draw()).toEqual(['RD001']);

    await database.stepClock((state!['until'] as number) - Date.now() + 2_000);
    const [id] = await session.draw();
    expect(Number(tickOf(id)) * 1_000 + Date.UTC(2024, 0, 1)).toBeGreaterThan(state!['until'] as number);
    expect(before).not.toContain(id);
  });

  it('goes back to the time that an operator states, after a clock that was ahead', async () => {
    await database.install();
    await database.stepClock(365 * 86_400_000);
    await session.draw();
    await database.stepClock(-365 * 86_400_000);
    expect(await session.draw()).toEqual(['RD001']);
    await fenceWorkers(optionsOf(), undefined, { issuedUntil: new Date() });
    await database.stepClock(600_000);

    expect(typeof (await session.draw())[0]).toBe('bigint');
  });

  it('is fenced only by an account that may change the worker table', async () => {
    await database.install();
    const role = `raindrop_reader_${process.pid}`;
    await database.run(`CREATE ROLE ${role}; GRANT SELECT ON ${TABLE} TO ${role}`);
    try {
      await session.run(`SET ROLE ${role}`);
      await expect(session.run('SELECT raindrop_id_close(0, true)')).rejects.toMatchObject({ code: '42501' });
    } finally {
      await session.run('RESET ROLE');
      await database.run(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('looks at the table of the services, in the schema of their database', async () => {
    await database.run(`CREATE SCHEMA app; CREATE TABLE app.${TABLE} (LIKE ${TABLE} INCLUDING ALL);
      CREATE TABLE app.${TABLE}_layout (LIKE ${TABLE}_layout INCLUDING ALL);
      CREATE TABLE app.${TABLE}_state (LIKE ${TABLE}_state INCLUDING ALL)`);
    await database.install({ ...SMALL, dbConfig: { ...database.settings, schema: 'app' } as never });

    expect(await database.run(`SELECT id FROM ${TABLE}`)).toEqual([]);
    expect(await database.run(`SELECT id::int FROM app.${TABLE} WHERE code = 'database'`)).toEqual([{ id: WORKER }]);
  });

  it('is refused where other programs have written rows, unless they are expected', async () => {
    await database.run(`INSERT INTO ${TABLE} (id, code, version, own_version) VALUES (5, 'theirs', 9, 1)`);

    expect(await refusal()).toMatch(/^RD002 other programs wrote the rows of these workers last.*: 5$/);
    expect(await refusal({ ...SMALL, adoptForeign: true })).toBe('none');
  });

  it('is refused to another role than the owner of the table, whose rights it would get', async () => {
    const role = `raindrop_other_${process.pid}`;
    await database.run(`CREATE ROLE ${role}; ALTER TABLE ${TABLE} OWNER TO ${role}`);
    try {
      expect(await refusal()).toMatch(/^RD002 the worker table, and those beside it, do not belong to /);
    } finally {
      await database.run(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('runs nothing of a stranger who has taken its names', async () => {
    const role = `raindrop_squatter_${process.pid}`;
    const about = /-- (Raindrop: makes [^\n]*)/.exec(databaseIdSql(SMALL))![1]!;
    await database.run(`CREATE ROLE ${role}; CREATE SEQUENCE runs; GRANT USAGE ON SEQUENCE runs TO ${role};
      GRANT CREATE ON SCHEMA public TO ${role}; SET ROLE ${role};
      CREATE FUNCTION mine() RETURNS bigint LANGUAGE sql AS $$ SELECT nextval('public.runs') $$;
      CREATE VIEW raindrop_id_position AS SELECT public.mine() AS last_value;
      CREATE SEQUENCE raindrop_id_tick;
      CREATE FUNCTION raindrop_id_open(seen bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT 1::bigint
      -- ${about}
      $$; RESET ROLE`);
    try {
      expect(await refusal()).toMatch(
        /^RD002 functions or sequences with the name public.raindrop_id belong to another/,
      );
      expect(await database.run(`SELECT pg_sequence_last_value('runs') AS runs`)).toEqual([{ runs: null }]);
    } finally {
      await database.run(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
    }
  });

  it('is fenced by no function of another role, whatever the row names', async () => {
    const role = `raindrop_thief_${process.pid}`;
    await database.install();
    await database.run(`CREATE ROLE ${role}; CREATE SCHEMA mine AUTHORIZATION ${role}; CREATE TABLE called (n int);
      CREATE FUNCTION mine.f() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
      CREATE FUNCTION mine.f_close(bigint, boolean) RETURNS void LANGUAGE sql AS 'INSERT INTO called VALUES (1)';
      ALTER FUNCTION mine.f_close(bigint, boolean) OWNER TO ${role};
      INSERT INTO ${TABLE} (id, del_flag, code, holder) VALUES (3, 1, 'database', 'mine.f')`);
    try {
      await expect(fenceWorkers(optionsOf())).rejects.toThrow('mine.f_close is missing, or does not belong to');
      expect(await database.run('SELECT n FROM called')).toEqual([]);
      // The others are fenced all the same.
      expect(await session.draw()).toEqual(['RD001']);
    } finally {
      await database.run(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
    }
  });

  it('is barred by a fence that came before its installation was committed', async () => {
    const service = await serve();
    service.nextId();
    await service.close();
    await session.run('BEGIN');
    await session.run(steered(databaseIdSql(SMALL)));
    // It waits in vain for the row that the installation changes. By then it has noted until when all is barred.
    await expect(fenceWorkers(optionsOf({ opTimeoutMs: 500 }))).rejects.toThrow('no answer within 500 ms');
    await session.run('COMMIT');

    expect(await session.draw()).toEqual(['RD001']);
  });

  it('sees a process of another layout at the first ID after a fence, too', async () => {
    await session.run('BEGIN');
    await session.run(steered(databaseIdSql(SMALL)));
    const other = await serve({ ...SMALL, workIdLength: 9 });
    other.nextId();
    await session.run('COMMIT');
    await session.fence();
    expect(await session.draw()).toEqual(['RD002']);
    await other.close();

    expect(await session.draw()).toEqual(['RD002']);
  });

  it('lets services move on to a later layout that end bits tell apart from its own', async () => {
    await database.install({ ...SMALL, endBitsValue: 1 });
    const before = await serve({ ...SMALL, startTimeStamp: '2025-01-01' });
    before.nextId();
    await before.close();

    const after = await serve({ ...SMALL, startTimeStamp: '2024-01-01' });
    expect(after.nextId()).toBeGreaterThan(0n);
  });

  it('does not trust operators of a stranger, with any search_path', async () => {
    await database.run(`CREATE SCHEMA evil;
      CREATE FUNCTION evil.shift(bigint, int) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
      CREATE OPERATOR evil.<< (LEFTARG = bigint, RIGHTARG = int, FUNCTION = evil.shift);
      CREATE FUNCTION evil.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'`);
    await session.run('SET search_path = evil, pg_catalog, public');
    await session.run(steered(databaseIdSql(SMALL, { name: 'public.raindrop_id' })));
    const answers = [];
    for (let call = 0; call < 3; call++) {
      const [row] = await session.run('SELECT public.raindrop_id()::text AS id');
      answers.push(BigInt(row!['id'] as string));
    }
    expect(new Set(answers).size).toBe(3);
    expect(answers.every((id) => tickOf(id) > 0n)).toBe(true);
  });
});
