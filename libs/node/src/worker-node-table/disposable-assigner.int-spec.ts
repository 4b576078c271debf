import { DataSource, type DataSourceOptions } from 'typeorm';
import { startMariadb, startPostgres } from '../../../../test/support/servers/private-servers.js';
import {
  type DatabaseKind,
  kindsInTurn,
  testDatabase,
  type TestDatabase,
} from '../../../../test/support/servers/test-databases.js';
import { openDisposable, request, start } from '../../../../test/support/stores/open-disposable.js';
import { unansweredInsert } from '../../../../test/support/stores/unanswered-insert.js';

const TABLE = 'raindrop_worker_node';

describe.each(kindsInTurn(__filename))('Disposable worker ids on %s', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    await admin.destroy();
    await database.drop();
  });

  const idsFrom = async (starts: readonly Promise<{ readonly workerId: number }>[]): Promise<number[]> =>
    (await Promise.all(starts)).map(({ workerId }) => workerId).sort((a, b) => a - b);

  async function rows(): Promise<Record<string, unknown>[]> {
    return admin.query<Record<string, unknown>[]>(`SELECT * FROM ${TABLE} ORDER BY id`);
  }

  it('are all different when many start at once on an empty database', async () => {
    const ids = await idsFrom(Array.from({ length: 20 }, () => start(database.options)));
    expect(new Set(ids).size).toBe(20);
    expect(await rows()).toHaveLength(20);
  });

  it('leave a row each that says who started when and where', async () => {
    expect(await start(database.options)).toMatchObject({ workerId: 1 });
    expect(openDisposable(database.options)).toMatchObject({ name: 'disposable', guarantee: 'fresh' });
    const [row] = await rows();
    expect(row).toMatchObject({
      host_name: 'host-1, pid 42',
      port: expect.stringMatching(/^8080-[0-9a-f]{32}$/) as string,
      type: expect.any(Number) as number,
    });
    expect([1, 2]).toContain(row!['type']);
    expect(Object.keys(row!).sort()).toEqual(['created', 'host_name', 'id', 'launch_date', 'modified', 'port', 'type']);
  });

  it('do not come back when the rows of the last starts are deleted', async () => {
    expect(await idsFrom([start(database.options)])).toEqual([1]);
    const [last] = await idsFrom([start(database.options)]);
    await admin.query(`DELETE FROM ${TABLE}`);
    expect(await idsFrom([start(database.options)])).toEqual([last! + 1]);
  });

  it('are refused when they are used up, and then no row is added any more', async () => {
    for (let id = 1; id <= 3; id++) expect((await start(database.options, 1, 3)).workerId).toBe(id);
    for (let tries = 0; tries < 3; tries++) {
      const error: unknown = await start(database.options, 1, 3).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ errorCode: 'WORKER_IDS_USED_UP', retryable: false, maxWorkerId: 3, reached: 3 });
      expect((error as Error).message).toMatch(/endBitsValue.*database lease/);
    }
    expect(await rows()).toHaveLength(3);
    // Also when the table no longer shows it.
    await admin.query(`DELETE FROM ${TABLE}`);
    await expect(start(database.options, 1, 3)).rejects.toMatchObject({ errorCode: 'WORKER_IDS_USED_UP', reached: 4 });
  });

  it('are announced long before they are used up, with the days that are left', async () => {
    const supply = async (): Promise<string | undefined> => {
      const { warnings = [] } = await start(database.options, 1, 20);
      return warnings.find((warning) => warning.startsWith('worker ids'));
    };
    expect(await supply()).toBeUndefined();
    const ago = new Date(Date.now() - 160 * 86_400_000).toISOString().replace('T', ' ').replace('Z', '');
    await admin.query(`UPDATE ${TABLE} SET created = '${ago}${kind === 'postgres' ? '+00' : ''}' WHERE id = 1`);
    for (let id = 2; id <= 16; id++) expect(await supply()).toBeUndefined();
    // 16 starts in 160 days.
    expect(await supply()).toMatch(
      /are running out: 3 starts are left \(about (29|30) days at the present rate\), 15\.0 %/,
    );
    expect(await supply()).toContain('2 starts');
    expect(await supply()).toContain('are running out: 1 starts');
    expect(await supply()).toContain('are almost used up: 0 starts');
  });

  it('below the range are refused with the reason', async () => {
    await expect(start(database.options, 5, 9)).rejects.toMatchObject({
      errorCode: 'CONFIGURATION',
      message: expect.stringContaining('must be 1 with') as string,
    });
  });

  it('of a start whose outcome is unknown are wasted, and the start goes on', async () => {
    if (kind === 'sqlite') return;
    await start(database.options);
    const proxy = await unansweredInsert(database.options as { host: string; port: number });
    const through = { ...database.options, port: proxy.port } as DataSourceOptions;
    const { workerId } = await openDisposable(through, { opTimeoutMs: 1_500 }).acquire(request);
    expect([workerId, (await rows()).map(({ id }) => Number(id))]).toEqual([3, [1, 2, 3]]);
    await proxy.stop();
  });

  it('are not taken from a trigger', async () => {
    await start(database.options);
    const other = {
      sqlite: 'integer PRIMARY KEY AUTOINCREMENT',
      postgres: 'serial PRIMARY KEY',
      mariadb: 'bigint AUTO_INCREMENT PRIMARY KEY',
      mysql: 'bigint AUTO_INCREMENT PRIMARY KEY',
    }[kind];
    await admin.query(`CREATE TABLE audit (id ${other}, note varchar(9))`);
    for (let row = 0; row < 50; row++) await admin.query(`INSERT INTO audit (note) VALUES ('x')`);
    if (kind === 'postgres') {
      await admin.query(
        `CREATE FUNCTION audit() RETURNS trigger AS $$ BEGIN INSERT INTO audit (note) VALUES ('t'); RETURN NEW; END $$ LANGUAGE plpgsql`,
      );
      await admin.query(`CREATE TRIGGER audited AFTER INSERT ON ${TABLE} FOR EACH ROW EXECUTE FUNCTION audit()`);
    } else {
      const each = kind === 'sqlite' ? '' : 'FOR EACH ROW ';
      const begin = `INSERT INTO audit (note) VALUES ('t')`;
      await admin.query(`CREATE TRIGGER audited AFTER INSERT ON ${TABLE} ${each}BEGIN ${begin}; END`);
    }
    expect((await start(database.options)).workerId).toBe(2);
    expect(await admin.query(`SELECT note FROM audit WHERE note = 't'`)).toHaveLength(1);
  });

  it('come with what can lose an acknowledged commit', async () => {
    const { warnings = [] } = await start(database.options);
    for (const warning of warnings) expect(warning).toMatch(/^\w+ is \w+: /);
  });
});

describe('The counter', () => {
  it.each(['mariadb', 'postgres'] as const)(
    'of %s does not go back when the highest row is deleted and the server killed',
    async (kind) => {
      const server = await (kind === 'mariadb' ? startMariadb() : startPostgres());
      const database = await testDatabase(kind, server.url);
      const ids: number[] = [];
      for (let each = 0; each < 3; each++) ids.push((await start(database.options)).workerId);
      const admin = await new DataSource(database.options).initialize();
      await admin.query(`DELETE FROM ${TABLE} WHERE id > 1`);
      // A later commit: what was committed before it is on the disk with it.
      await admin.query('CREATE TABLE later (id int)');
      await admin.destroy();
      await server.kill('SIGKILL');
      await server.restart();
      ids.push((await start(database.options)).workerId);
      expect(new Set(ids).size).toBe(4);
      expect(ids[3]).toBeGreaterThan(3);
      await server.stop();
    },
  );

  it('of an SQLite table that was made without AUTOINCREMENT goes back (the control), so such a table is refused', async () => {
    const database = await testDatabase('sqlite');
    const admin = await new DataSource(database.options).initialize();
    const columns = 'host_name text, port text, type int, launch_date text, modified text, created text';
    await admin.query(`CREATE TABLE ${TABLE} (id integer PRIMARY KEY, ${columns})`);
    const insert = async (): Promise<unknown> =>
      (await admin.query<{ id: unknown }[]>(`INSERT INTO ${TABLE} (port) VALUES ('x') RETURNING id`))[0]?.id;
    expect([await insert(), await insert()]).toEqual([1, 2]);
    await admin.query(`DELETE FROM ${TABLE} WHERE id = 2`);
    expect(await insert()).toBe(2);
    await expect(start(database.options)).rejects.toMatchObject({
      errorCode: 'NOT_OUR_TABLE',
      message: expect.stringContaining('not AUTOINCREMENT') as string,
    });
    await admin.destroy();
    await database.drop();
  });
});

/** A table's id, the keys behind the columns, and what follows the table's name and its end. */
interface Made {
  readonly id: string;
  readonly keys?: string;
  readonly kind?: string;
  readonly end?: string;
}

type Case = readonly [name: string, made: Made, reason: string];

const MYSQL: readonly Case[] = [
  ['is a constant', { id: 'bigint DEFAULT 5 PRIMARY KEY' }, 'not AUTO_INCREMENT'],
  ['has a key that is not unique', { id: 'bigint AUTO_INCREMENT', keys: 'KEY (id)' }, 'not a primary or unique key'],
  [
    'is counted for each host by MyISAM',
    { id: 'bigint AUTO_INCREMENT', keys: 'PRIMARY KEY (host_name, id)', end: ' ENGINE=MyISAM' },
    'not a primary or unique key',
  ],
];

const REFUSED: Readonly<Record<DatabaseKind, readonly Case[]>> = {
  postgres: [
    ['is a constant', { id: 'bigint DEFAULT 5' }, 'not a primary or unique key'],
    ['is a constant with a key', { id: 'bigint DEFAULT 5 PRIMARY KEY' }, 'neither an identity nor a serial'],
    ['begins again without a key', { id: `bigint DEFAULT nextval('cycling')` }, 'not a primary or unique key'],
    ['begins again', { id: `bigint DEFAULT nextval('cycling') PRIMARY KEY` }, 'NO CYCLE'],
    [
      'begins again by itself',
      { id: 'bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 3 CYCLE) PRIMARY KEY' },
      'NO CYCLE',
    ],
    [
      'counts down',
      { id: 'bigint GENERATED ALWAYS AS IDENTITY (INCREMENT -1) PRIMARY KEY' },
      'neither an identity nor a serial',
    ],
    ['is reckoned', { id: `bigint DEFAULT nextval('steady') % 3 PRIMARY KEY` }, 'neither an identity nor a serial'],
    ['is part of a key', { id: 'bigserial', keys: 'PRIMARY KEY (id, port)' }, 'not a primary or unique key'],
    ['is forgotten by a crash', { id: 'bigserial PRIMARY KEY', kind: 'UNLOGGED' }, 'UNLOGGED'],
  ],
  sqlite: [
    ['is a constant', { id: 'int DEFAULT 5' }, 'not a primary or unique key'],
    [
      'is not what counts',
      { id: 'int DEFAULT 5', keys: 'n integer PRIMARY KEY AUTOINCREMENT' },
      'not a primary or unique key',
    ],
    ['only speaks of it', { id: 'integer PRIMARY KEY /* no autoincrement */' }, 'not AUTOINCREMENT'],
    ['only quotes it', { id: 'integer PRIMARY KEY', keys: `n text DEFAULT 'autoincrement'` }, 'not AUTOINCREMENT'],
  ],
  mariadb: MYSQL,
  mysql: MYSQL,
};

const TRUSTED: Readonly<Record<DatabaseKind, readonly (readonly [name: string, made: Made])[]>> = {
  postgres: [
    ['is serial', { id: 'serial PRIMARY KEY' }],
    ['is an identity', { id: 'bigint GENERATED BY DEFAULT AS IDENTITY UNIQUE' }],
    ['has a sequence of its own', { id: `bigint DEFAULT nextval('steady') PRIMARY KEY` }],
  ],
  sqlite: [['is named in capitals', { id: 'INTEGER PRIMARY KEY /* ! */ AUTOINCREMENT' }]],
  mariadb: [['has a unique key', { id: 'int AUTO_INCREMENT', keys: 'UNIQUE KEY (id), KEY (id, port)' }]],
  mysql: [['has a unique key', { id: 'int AUTO_INCREMENT', keys: 'UNIQUE KEY (id), KEY (id, port)' }]],
};

describe.each(kindsInTurn(__filename))('On %s a table of starts whose id', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
    if (kind !== 'postgres') return;
    await admin.query('CREATE SEQUENCE cycling MAXVALUE 3 CYCLE');
    await admin.query('CREATE SEQUENCE steady');
  });

  afterEach(async () => {
    await admin.destroy();
    await database.drop();
  });

  async function make({ id, keys, kind: kindOf = '', end = '' }: Made): Promise<void> {
    const time = kind === 'postgres' ? 'timestamptz' : kind === 'sqlite' ? 'text' : 'datetime';
    const columns = [
      ...[`id ${id}`, 'host_name varchar(64)', 'port varchar(64)', 'type int'],
      ...[`launch_date ${time}`, `modified ${time}`, `created ${time}`],
      ...(keys === undefined ? [] : [keys]),
    ];
    await admin.query(`CREATE ${kindOf} TABLE ${TABLE} (${columns.join(', ')})${end}`);
  }

  const next = async (): Promise<number> => (await openDisposable(database.options).acquire(request)).workerId;

  it.each(REFUSED[kind])('%s is refused', async (_, made, reason) => {
    await make(made);
    await expect(next()).rejects.toMatchObject({
      errorCode: 'NOT_OUR_TABLE',
      retryable: false,
      message: expect.stringContaining(reason) as string,
    });
    expect(await admin.query(`SELECT * FROM ${TABLE}`)).toEqual([]);
  });

  it.each(TRUSTED[kind])('%s gives each once', async (_, made) => {
    await make(made);
    expect([await next(), await next(), await next()]).toEqual([1, 2, 3]);
  });
});

describe('What is refused on PostgreSQL', () => {
  it.each([
    ['a constant', 'DEFAULT 5', [5, 5, 5, 5]],
    ['a sequence with CYCLE', `DEFAULT nextval('cycling')`, [1, 2, 1, 2]],
  ])('would give ids twice (the control): %s', async (_, id, given) => {
    const database = await testDatabase('postgres');
    const admin = await new DataSource(database.options).initialize();
    await admin.query('CREATE SEQUENCE cycling MAXVALUE 2 CYCLE');
    await admin.query(`CREATE TABLE ${TABLE} (id int ${id}, port text)`);
    const ids: number[] = [];
    for (const port of 'abcd') {
      const rows = await admin.query<{ id: number }[]>(`INSERT INTO ${TABLE} (port) VALUES ('${port}') RETURNING id`);
      ids.push(rows[0]!.id);
    }
    expect(ids).toEqual(given);
    await admin.destroy();
    await database.drop();
  });

  it('is an id that another row has, whatever the catalogue says', async () => {
    const database = await testDatabase('postgres');
    const admin = await new DataSource(database.options).initialize();
    const start = async (): Promise<number> => (await openDisposable(database.options).acquire(request)).workerId;
    expect(await start()).toBe(1);
    // A unique key does not bind the tables that inherit.
    await admin.query(`CREATE TABLE heir () INHERITS (${TABLE})`);
    await admin.query(
      `INSERT INTO heir (id, host_name, port, type) SELECT n, 'a', 'b', 1 FROM generate_series(2, 9) n`,
    );
    await expect(start()).rejects.toThrow('returned no unique id for the row inserted into raindrop_worker_node');
    await admin.destroy();
    await database.drop();
  });
});
