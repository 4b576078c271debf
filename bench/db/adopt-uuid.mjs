// How long does `raindrop adopt --from uuid` take, and for how long does it keep a writer waiting? See docs/migration.md.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { runCli } from '@raindrop/cli';
import { Command } from 'commander';
import { DataSource } from 'typeorm';
import ts from 'typescript';
import { SERVERS, createOnServer } from '../parts/databases.mjs';

const options = new Command('bench/db/adopt-uuid.mjs')
  .description('Adopts a table of UUID keys, with a table that refers to it, while a writer writes each 50 ms.')
  .option('--db <names...>', 'the databases', ['mariadb', 'postgres'])
  .option('--rows <count>', 'rows of each of the two tables', Number, 1_000_000)
  .option('--mariadb <url>', 'where MariaDB is', SERVERS.mariadb)
  .option('--postgres <url>', 'where PostgreSQL is', SERVERS.postgres)
  .option('--phases', 'print each phase')
  .parse()
  .opts();

const TABLES = {
  mariadb: (rows) => [
    'CREATE TABLE orders (id uuid NOT NULL PRIMARY KEY, customer varchar(20) NOT NULL, created_at datetime(6) NOT NULL)',
    'CREATE TABLE order_lines (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, order_id uuid NOT NULL, amount int NOT NULL, ' +
      'CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)',
    'INSERT INTO orders SELECT uuid(), CONCAT("customer ", seq % 1000), "2025-01-01" + INTERVAL (seq * 7919) % ' +
      `${rows} SECOND FROM seq_1_to_${rows}`,
    'INSERT INTO order_lines (order_id, amount) SELECT id, 1 FROM orders',
  ],
  postgres: (rows) => [
    'CREATE TABLE orders (id uuid NOT NULL PRIMARY KEY, customer varchar(20) NOT NULL, created_at timestamp NOT NULL)',
    'CREATE TABLE order_lines (id bigserial PRIMARY KEY, order_id uuid NOT NULL, amount int NOT NULL, ' +
      'CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)',
    "INSERT INTO orders SELECT gen_random_uuid(), 'customer ' || n % 1000, '2025-01-01'::timestamp + (n::bigint * 7919) % " +
      `${rows} * interval '1 second' FROM generate_series(1, ${rows}) n`,
    'INSERT INTO order_lines (order_id, amount) SELECT id, 1 FROM orders',
    'CREATE INDEX of_order_index ON order_lines (order_id)',
    'ANALYZE',
  ],
};

for (const name of options.db) console.log(JSON.stringify(await measure(name)));

async function measure(name) {
  const database = await createOnServer(name, options[name]);
  const folder = mkdtempSync(join(import.meta.dirname, 'adopt-'));
  try {
    const source = await new DataSource(database.options).initialize();
    for (const sql of TABLES[name](options.rows)) await source.query(sql);
    const [{ version }] = await source.query('SELECT version() AS version');
    await source.destroy();
    const file = join(folder, 'adopt.ts');
    const args = ['adopt', '--from', 'uuid', '--table', 'orders', '--order-by', 'created_at', '--write', file];
    await raindrop([...args, '--url', database.options.url]);
    const writer = openWriter(database.options, name);
    const migrations = [];
    for (const part of ['adopt', 'adopt-swap']) migrations.push(await compiled(folder, part));
    const work = await new DataSource({ ...database.options, migrations: [migrations[0]] }).initialize();
    const first = await timed(work, writer);
    await work.destroy();
    const both = await new DataSource({ ...database.options, migrations }).initialize();
    const second = await timed(both, writer);
    await writer.stop();
    const back = await timedBack(both);
    await both.destroy();
    return { database: name, version, rows: options.rows, first, second, back, refused: writer.refused() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await database.drop();
  }
}

/** @throws Error with all that the command says when it fails */
async function raindrop(args) {
  const said = [];
  const stream = new Writable({ write: (text, _, done) => done(void said.push(text)) });
  if ((await runCli(args, { stdout: stream, stderr: stream })) !== 0) throw new Error(said.join(''));
}

/** The class that a file of TypeScript exports. */
async function compiled(folder, part) {
  const text = readFileSync(join(folder, `${part}.ts`), 'utf8');
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const file = join(folder, `${part}.mjs`);
  writeFileSync(file, outputText);
  return Object.values(await import(pathToFileURL(file).href))[0];
}

/** What a migration takes, by phase, and for how long the writer waited meanwhile. */
async function timed(source, writer) {
  const phases = {};
  const { log } = console;
  writer.longest();
  console.log = (line) => {
    const [, phase, ms] = /^(.*): (\d+) ms$/.exec(String(line)) ?? [];
    if (phase !== undefined) phases[phase] = { ms: Number(ms), waited: writer.longest() };
  };
  const begun = performance.now();
  try {
    await source.runMigrations({ transaction: 'none' });
  } finally {
    console.log = log;
  }
  const total = Math.round(performance.now() - begun);
  // What was waiting at the end has to end.
  await writer.settled();
  const waits = [...Object.values(phases).map(({ waited }) => waited), writer.longest()];
  if (options.phases) console.error(phases);
  return { ms: total, longestWaitMs: Math.max(...waits) };
}

async function timedBack(source) {
  const { log } = console;
  console.log = () => undefined;
  const begun = performance.now();
  try {
    await source.undoLastMigration({ transaction: 'none' });
    await source.undoLastMigration({ transaction: 'none' });
  } finally {
    console.log = log;
  }
  return { ms: Math.round(performance.now() - begun) };
}

/** Inserts an order and its line, and changes an old order, each 50 ms, over a connection of its own. */
function openWriter(connection, name) {
  let isOver = false;
  let longest = 0;
  let refusal;
  let pending = Promise.resolve();
  const literal = (text) => `'${text}'`;
  const run = async () => {
    const source = await new DataSource(connection).initialize();
    const [{ id: old }] = await source.query('SELECT id FROM orders ORDER BY created_at DESC LIMIT 1');
    try {
      while (!isOver) {
        const id = literal(randomUUID());
        for (const sql of [
          `INSERT INTO orders (id, customer, created_at) VALUES (${id}, 'Ada', now())`,
          `INSERT INTO order_lines (order_id, amount) VALUES (${id}, 1)`,
          `INSERT INTO order_lines (order_id, amount) VALUES (${literal(old)}, 1)`,
          `UPDATE orders SET customer = 'Grace' WHERE id = ${literal(old)}`,
        ]) {
          const begun = performance.now();
          pending = source.query(sql);
          try {
            await pending;
          } finally {
            longest = Math.max(longest, Math.round(performance.now() - begun));
          }
        }
        await delay(50);
      }
    } catch (error) {
      refusal = error.message;
    } finally {
      await source.destroy();
    }
  };
  const ended = run();
  return {
    longest: () => {
      const found = longest;
      longest = 0;
      return found;
    },
    settled: () => pending.catch(() => undefined),
    refused: () => refusal ?? null,
    stop: () => {
      isOver = true;
      return ended;
    },
    name,
  };
}
