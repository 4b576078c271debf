// A process with many services, each with a lease and connections of its own. Plain JavaScript, so that nothing but the
// built library costs time.
const { resolve } = require('node:path');

const { openIdService } = require(resolve(__dirname, '../../libs/node/dist/index.js'));

/** Services that start at once, as those of many hosts would. */
const AT_ONCE = 8;
const SILENT = { log() {}, warn() {}, error() {}, debug() {} };

let services = [];

async function open({ count, options }) {
  const left = Array.from({ length: count }, (_, index) => index);
  const openSome = async () => {
    while (left.pop() !== undefined) services.push(await openIdService({ ...options, logger: SILENT }));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openSome));
}

/** CPU time until now, ms, and how many services may issue. */
function report() {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000, ready: services.filter((ids) => ids.status().ready).length };
}

process.on('message', async (order) => {
  if (order.open !== undefined) await open(order.open);
  if (order.close) await Promise.all(services.map((ids) => ids.close()));
  process.send(report());
});
process.on('disconnect', () => process.exit());
