// Builds a start-up snapshot (`node --build-snapshot`) of a process that holds a worker and has issued an ID. Every
// process that is started from it begins with that memory, and goes on with the database that its first argument names.
const { randomUUID } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { dirname, resolve } = require('node:path');
const { startupSnapshot } = require('node:v8');

const BATCHES = 20;
const PATIENCE = { timeoutMs: 60_000 };

const libs = resolve(process.argv[1], '../../../../libs');
const PACKAGES = { '@raindrop/core': 'core/dist/index.js', '@raindrop/core/internal': 'core/dist/internal.js' };
const loaded = new Map();

/** Modules that Node has loaded are refused in a snapshot; code that was only evaluated is not. */
function load(file) {
  const known = loaded.get(file);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const local = (request) => {
    if (request in PACKAGES) return load(resolve(libs, PACKAGES[request]));
    return request.startsWith('.') ? load(resolve(dirname(file), request)) : require(request);
  };
  new Function('require', 'module', 'exports', readFileSync(file, 'utf8'))(local, module, module.exports);
  return module.exports;
}

const core = { ...load(resolve(libs, 'core/dist/index.js')), ...load(resolve(libs, 'core/dist/internal.js')) };
const { resolveLayout } = load(resolve(libs, 'core/dist/layout/layout-options.js'));
const { systemPorts } = load(resolve(libs, 'node/dist/system/system-ports.js'));

const resolved = resolveLayout(
  {
    // Ticks of a day: however late one of the processes starts, all of them issue in one and the same.
    timeUnit: 'day',
    startTimeStamp: '2026-01-01',
    timeStampLength: 17,
    workIdLength: 5,
    endBitsLength: 1,
    serviceMaxWorkId: 3,
  },
  Date.now(),
);
let isBlind = false;
/** A blind one does not see that its memory lives on in another process. */
const ports = { ...systemPorts('turn'), processId: () => (isBlind ? -1 : process.pid) };
const table = new core.MemoryWorkerTable();
let store = new core.MemoryWorkerStore(table, Date.now);
const writes = [];
/** The store of the moment: memory while the snapshot is built, the database afterwards. */
const current = {
  prepare: async (workers) => {
    await store.prepare(workers);
    // As a database begins them.
    for (const [id, row] of table.rows) table.rows.set(id, { ...row, version: 1, ownVersion: 1 });
  },
  readTable: () => store.readTable(),
  readSample: (request) => store.readSample(request),
  readRow: (id) => store.readRow(id),
  readRowAndLayouts: (id) => store.readRowAndLayouts(id),
  write: (write) => {
    writes.push(write);
    return store.write(write);
  },
  rememberLayout: (fingerprint) => store.rememberLayout(fingerprint),
  abandon: () => store.abandon(),
  close: () => store.close(),
};
const keeper = new core.StoreWorkerKeeper({
  resolved,
  options: core.resolveLeaseOptions({}),
  identity: { code: 'snapshot', holder: 'snapshot', timeUnit: 2 },
  session: new core.StoreSession(current, ports.timers, 3_000),
  ports,
});
const generator = new core.SnowflakeGenerator({ layout: resolved.layout, tenure: keeper }, ports);
keeper.setHighestIssued((lane) => generator.highest(keeper, lane));

isBlind = process.argv.includes('blind');
void keeper.start().then(() => {
  randomUUID();
  console.log(JSON.stringify({ write: writes[0], id: String(generator.nextId()) }));
});

startupSnapshot.setDeserializeMainFunction(async () => {
  const fromHere = require('node:module').createRequire(resolve(libs, 'node/package.json'));
  const { SqlWorkerStore } = fromHere('./dist/worker-table/sql-worker-store.js');
  const { settingsDatabase } = fromHere('./dist/drivers/settings-database.js');
  const options = { tableName: 'soc_raindrop_worker', autoCreateTable: true, opTimeoutMs: 3_000 };
  store = new SqlWorkerStore(settingsDatabase(JSON.parse(process.argv[2]), 'the test'), options);
  writes.length = 0;
  let refusal;
  try {
    generator.nextId();
  } catch (error) {
    refusal = error.errorCode;
  }
  const ids = [];
  for (let batch = 0; batch < BATCHES; batch++) ids.push(...(await generator.nextIdsAsync(500, undefined, PATIENCE)));
  const { workerId } = keeper;
  const tokens = writes.map(({ token }) => token);
  console.log(JSON.stringify({ refusal, workerId, tokens, ids: ids.map(String), uuid: randomUUID() }));
  // Both hold their rows until both have issued.
  process.stdin.resume().once('end', () => void keeper.close());
});
