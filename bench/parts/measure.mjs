import { cpus } from 'node:os';
import { do_not_optimize, measure } from 'mitata';

/** Nanoseconds per ID: the median of mitata's samples, the result kept alive, divided by the IDs of one call. */
export async function nsPerId(call, idsPerCall = 1) {
  // mitata decides by the first calls whether to time them one by one, which the clock's resolution does not allow.
  for (let left = 20_000; left > 0; left -= idsPerCall) call();
  const { p50 } = await measure(() => do_not_optimize(call()), { min_cpu_time: 400e6 });
  // Timers and the lease get their turn before the next one.
  await new Promise((resolve) => setTimeout(resolve, 5));
  return p50 / idsPerCall;
}

export function environment() {
  const [{ model }] = cpus();
  return `Node ${process.version}, V8 ${process.versions.v8}, ${cpus().length} x ${model.trim()}, ${process.platform}`;
}

/** One table of a question; rows are `{ name, ns, note }`, ratios against the row that is named. */
export function printTable(title, rows, against) {
  const base = rows.find(({ name }) => name === against);
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`\n${title}`);
  for (const { name, ns, note = '' } of rows) {
    const ratio = base === undefined ? '' : `${(ns / base.ns).toFixed(2)}x`.padStart(9);
    console.log(`  ${name.padEnd(width)} ${ns.toFixed(2).padStart(9)} ns${ratio}  ${note}`);
  }
}
