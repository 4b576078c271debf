// One run in a process of its own, so that none finds code that another has warmed up.
import { DATABASES } from './databases.mjs';
import { KINDS } from './kinds.mjs';
import { run } from './run.mjs';

const REPORT_EVERY_MS = 200;

const { database, kind, ...options } = JSON.parse(process.argv[2]);
const stop = new AbortController();
// The run ends at its next step, and drops its database on the way out. A terminal's Ctrl-C comes here as well.
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(signal, () => stop.abort());

let toldMs = 0;
function onRows(rows, rowsPerSecond) {
  const now = performance.now();
  if (rows < options.rows && now < toldMs + REPORT_EVERY_MS) return;
  toldMs = now;
  if (process.connected) process.send({ rows, rowsPerSecond });
}

try {
  const find = (list, wanted) => list.find(({ name }) => name === wanted);
  const result = await run(find(DATABASES, database), find(KINDS, kind), { ...options, signal: stop.signal, onRows });
  process.send({ result });
} catch (error) {
  if (!stop.signal.aborted) console.error(error);
  process.exitCode = 1;
} finally {
  if (process.connected) process.disconnect();
}
