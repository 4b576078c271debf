// A process that loads the built libraries and acquires a worker when it is told to. Plain JavaScript, because
// 64 of these are started at once.
const { resolve } = require('node:path');

const dist = resolve(__dirname, '../../../libs/node/dist');
const { leaseWorker } = require(resolve(dist, 'workers/open-worker.js'));
const { resolveServiceOptions } = require(resolve(dist, 'options/service-options.js'));
const { systemPorts } = require(resolve(dist, 'system/system-ports.js'));
const { openWorkerStore } = require(resolve(dist, 'workers/open-worker-store.js'));
const { RaindropError } = require('@raindrop/core');
const { SnowflakeGenerator } = require('@raindrop/core/internal');
const { DataSource } = require('typeorm');

let worker;

/** What an application has done before it comes to the module: its own connection is open, its driver is loaded. */
async function connect(database) {
  const dataSource = await new DataSource(database).initialize();
  await dataSource.query('SELECT 1');
  await dataSource.destroy();
}

/** @param options the module's, with `dbConfig` */
async function start(options) {
  const beganMs = performance.now();
  const beganCpu = process.cpuUsage();
  const took = () => {
    const { user, system } = process.cpuUsage(beganCpu);
    return { tookMs: performance.now() - beganMs, cpuMs: (user + system) / 1_000 };
  };
  const resolved = resolveServiceOptions(options, Date.now());
  const ports = systemPorts(resolved.clock);
  const store = openWorkerStore(resolved, undefined, () => ports.clock.refresh());
  worker = leaseWorker(resolved, { store, ports });
  const { layout, generator } = resolved;
  const ids = new SnowflakeGenerator({ layout: layout.layout, tenure: worker, options: generator }, ports);
  worker.setHighestIssued((lane) => ids.highest(worker, lane));
  try {
    await worker.start();
    const id = String(ids.nextId());
    process.send({ ...took(), workerId: worker.workerId, id });
  } catch (error) {
    const errorCode = error instanceof RaindropError ? error.errorCode : undefined;
    process.send({ ...took(), errorCode, message: String(error) });
  }
}

process.on('message', async ({ load, options, release }) => {
  for (const database of load ?? []) await connect(database);
  if (options !== undefined) return start(options);
  if (release) await worker.close();
  process.send('done');
});
// The process at the other end of the channel is gone: so are we, without giving anything back.
process.on('disconnect', () => process.exit());
