import { IdService, RaindropModule, workerTableSql } from '@raindrop/nestjs';
import { workerTableMigration } from '@raindrop/nestjs/typeorm';
import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { metricsIn, rules } from '../deploy/asked-series.js';
import { OPTIONS, startApp, typeorm } from '../../support/module/module-fixture.js';
import {
  databaseKinds,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
  type TestOptions,
} from '../../support/servers/test-databases.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const GUIDE = readDocument('docs/operations.md');
const [grantsOnMysql, grantsOnPostgres] = [...GUIDE.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql]) => sql!);
const migration = typescriptBlocks(GUIDE).at(-1);

const servers = databaseKinds.filter((kind) => kind !== 'sqlite');
const isPostgres = (kind: DatabaseKind): boolean => kind === 'postgres';

async function withDatabase(
  kind: DatabaseKind,
  work: (database: TestDatabase, admin: DataSource) => Promise<void>,
): Promise<void> {
  const database = await testDatabase(kind);
  const admin = await new DataSource(database.options).initialize();
  try {
    await work(database, admin);
  } finally {
    await admin.destroy();
    await database.drop();
  }
}

describe('The statements of docs/operations.md', () => {
  it.each(servers)('grant on %s what a service needs, and not a right less', async (kind) => {
    await withDatabase(kind, async ({ options }, admin) => {
      const name = `raindrop_${randomBytes(6).toString('hex')}`;
      const account = isPostgres(kind) ? name : `'${name}'@'%'`;
      await admin.query(
        isPostgres(kind) ? `CREATE USER ${name} PASSWORD 'p'` : `CREATE USER ${account} IDENTIFIED BY 'p'`,
      );
      for (const statement of workerTableSql(kind, 'soc_raindrop_worker')) await admin.query(statement);
      const dbConfig = { ...options, username: name, password: 'p' } as TestOptions;
      const start = () => startApp([RaindropModule.forRoot({ ...OPTIONS, dbConfig, autoCreateTable: false })]);

      const grants = (isPostgres(kind) ? grantsOnPostgres! : grantsOnMysql!)
        .replaceAll(' shop.', ` ${String(options.database)}.`)
        .replaceAll("'shop'@'%'", account)
        .replaceAll('TO shop', `TO ${account}`)
        .split(';\n')
        .filter((grant) => grant !== '');
      for (const grant of grants) await admin.query(grant.replace('SELECT, INSERT, UPDATE', 'SELECT, INSERT'));
      await expect(start()).rejects.toMatchObject({ errorCode: 'DATABASE_REFUSED', refusal: 'rights' });
      for (const grant of grants) await admin.query(grant);
      const app = await start();
      expect(app.get(IdService).nextId()).toBeGreaterThan(0n);
      await app.close();
      await admin.query(isPostgres(kind) ? `DROP OWNED BY ${name}` : `DROP USER ${account}`);
      if (isPostgres(kind)) await admin.query(`DROP USER ${name}`);
    });
  });

  it.each(databaseKinds)('make the table by a migration on %s', async (kind) => {
    await withDatabase(kind, async ({ options }) => {
      const { migrations } = runBlock(migration!, { workerTableMigration }) as { migrations: never[] };
      const source = await new DataSource({ ...options, migrations }).initialize();
      expect(await source.runMigrations()).toHaveLength(1);
      await source.destroy();
      const app = await startApp([typeorm(options), RaindropModule.forRoot({ ...OPTIONS, autoCreateTable: false })]);
      expect(app.get(IdService).status()).toMatchObject({ state: 'held' });
      await app.close();
    });
  });
});

describe('The alerts of docs/operations.md', () => {
  it('are those of deploy/prometheus/alerts.yml, each with what to do', () => {
    const rows = [...readDocument('docs/operations.md#alerts').matchAll(/^\| (`Raindrop.*`) \|/gm)];
    const named = rows.flatMap(([, names]) => [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
    expect(named.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });

  it('ask without units for instruments of exporters that leave them out', () => {
    const series = [...readDocument('docs/metrics.md').matchAll(/^\| `(raindrop\.[\w.]+)` \| (\w+)/gm)].map(
      ([, name, kind]) => name!.replaceAll('.', '_') + (kind === 'counter' ? '_total' : ''),
    );
    const names = rules.flatMap(({ expr }) => metricsIn(expr)).filter((name) => name.startsWith('raindrop_'));
    expect(names.length).toBeGreaterThan(10);
    expect(names.map((name) => name.replace(/_(seconds|days)$/, '')).filter((name) => !series.includes(name))).toEqual(
      [],
    );
  });
});
