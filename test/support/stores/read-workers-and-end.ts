import { natsWorkers } from '../../../libs/node/src/nats/nats-workers.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';

const { timers } = systemPorts('exact');
const lease = { opTimeoutMs: 5_000, leaseMs: 60_000, graceMs: 60_000, horizonMs: 120_000, maxClockSkewMs: 20_000 };
const store = natsWorkers({ connection: process.argv[2]! }).openStore({
  lease: lease as never,
  timers,
  warn: () => {},
});

/** Uses a bucket and closes nothing: the process has to end all the same. */
void store
  .prepare({ min: 1, max: 3 })
  .then(() => store.readTable())
  .then(({ rows }) => process.stdout.write(`${rows.length} rows\n`));
