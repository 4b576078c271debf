import { setImmediate as nextTurn } from 'node:timers/promises';
import { newOrders } from './orders.mjs';

const POINTS = 50;
const LOOK_UPS = 1_000;

/**
 * Inserts the rows batch by batch, as a user would.
 * @returns the time of all, the rows per second on the way, and what the reads need: some keys and the batches' moments
 */
export async function fill(repository, kind, { rows, batch, signal, onRows }) {
  const batches = Math.ceil(rows / batch);
  const keysPerBatch = Math.ceil(LOOK_UPS / batches);
  const perPoint = Math.ceil(batches / POINTS);
  const keys = [];
  const moments = [];
  const rowsPerSecond = [];
  let insertMs = 0;
  let pointMs = 0;
  let pointRows = 0;
  for (let index = 0; index < batches; index++) {
    signal.throwIfAborted();
    // SQLite's driver is synchronous: without this, neither the lease's timers nor Ctrl-C would have their turn.
    await nextTurn();
    const count = Math.min(batch, rows - index * batch);
    const begun = performance.now();
    const createdAt = new Date();
    const orders = newOrders(index * batch, count, createdAt, kind.newId);
    await repository.insert(orders);
    const ms = performance.now() - begun;
    insertMs += ms;
    pointMs += ms;
    pointRows += count;
    moments.push(createdAt);
    for (let left = keysPerBatch; left > 0; left--) keys.push(orders[Math.floor(Math.random() * count)].id);
    if ((index + 1) % perPoint === 0 || index === batches - 1) {
      rowsPerSecond.push([index * batch + count, Math.round((1e3 * pointRows) / pointMs)]);
      pointMs = pointRows = 0;
    }
    onRows(index * batch + count, (1e3 * (index * batch + count)) / insertMs);
  }
  return { insertMs, rowsPerSecond, keys, moments };
}

/** @throws Error when rows or keys are missing */
export async function checkCount(repository, rows) {
  const { count, keys } = await repository
    .createQueryBuilder('o')
    .select('COUNT(*)', 'count')
    .addSelect('COUNT(DISTINCT o.id)', 'keys')
    .getRawOne();
  if (Number(count) !== rows || Number(keys) !== rows)
    throw new Error(`${rows} rows inserted, but the table has ${count} rows and ${keys} distinct keys`);
}
