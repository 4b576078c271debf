import { createLayout } from '@raindrop/core';
import { resolveLeaseOptions } from '@raindrop/core/internal';
import { IdService, RaindropModule, workerTableSql } from '@raindrop/nestjs';
import { workerTableMigration } from '@raindrop/nestjs/typeorm';
import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { OPTIONS, startApp, typeorm } from '../module/module-fixture.js';
import {
  databaseKinds,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
  type TestOptions,
} from '../servers/test-databases.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const GUIDE = readDocument('docs/operations.md');
const METRICS = readDocument('docs/metrics.md');
const [heldOnMysql, heldOnPostgres, grantsOnMysql, grantsOnPostgres] = [
  ...GUIDE.matchAll(/^```sql\n([\s\S]*?)^```$/gm),
].map(([, sql]) => sql!);
const ALERTS = /^```yaml\n(groups:[\s\S]*?)^```$/m.exec(GUIDE)![1]!;
const [migration] = typescriptBlocks(GUIDE);

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
  it.each(servers)('count the worker ids that are held on %s', async (kind) => {
    await withDatabase(kind, async ({ options }, admin) => {
      const count = async (): Promise<number[]> => {
        const answer: unknown = await admin.query(isPostgres(kind) ? heldOnPostgres! : heldOnMysql!);
        const [row] = answer as [Record<'total' | 'held', string>];
        return [Number(row.total), Number(row.held)];
      };
      const app = await startApp([typeorm(options), RaindropModule.forRoot(OPTIONS)]);
      expect(await count()).toEqual([31, 1]);
      await app.close();
      expect(await count()).toEqual([31, 0]);
    });
  });

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
  /** Every instrument as OpenTelemetry's exporter for JavaScript names it. */
  const series = [...METRICS.matchAll(/^\| `(raindrop\.[\w.]+)` \| (\w+)/gm)].map(
    ([, name, kind]) => name!.replaceAll('.', '_') + (kind === 'counter' ? '_total' : ''),
  );
  const expressions = [...ALERTS.matchAll(/^ +expr: (.*)$/gm)].map(([, expression]) => expression!);

  it('ask for instruments and attributes that exist', () => {
    const labels = [...METRICS.matchAll(/`(raindrop\.[\w.]+)`/g)].map(([, name]) => name!.replaceAll('.', '_'));
    expect(expressions).toHaveLength(11);
    for (const expression of expressions) {
      const matched = [...expression.matchAll(/\{(\w+)=/g)].map(([, label]) => label!);
      const grouped = [...expression.matchAll(/by \((\w+)\)/g)].map(([, label]) => label!);
      expect([...matched, ...grouped].filter((label) => !labels.includes(label))).toEqual([]);
      const names = expression.replace(/\{.*?\}|by \(\w+\)/g, '').match(/raindrop_\w+/g)!;
      expect(names.filter((name) => !series.includes(name))).toEqual([]);
    }
  });

  it('compare with what follows from the defaults and the layout of the README', () => {
    const layout = createLayout(
      { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
      Date.now(),
    );
    expect(expressions).toContain(`rate(raindrop_ids_issued_total[5m]) > ${layout.idsPerSecond / 2}`);
    expect(expressions).toContain(
      `count by (raindrop_service) (raindrop_worker_id >= 0) > ${Math.floor(layout.maxWorkers / 2)}`,
    );
    const { leaseMs } = resolveLeaseOptions({});
    expect(expressions).toContain(`raindrop_lease_remaining > 0 and raindrop_lease_remaining < ${leaseMs / 2_000}`);
  });
});
