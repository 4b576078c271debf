import { SingleBar } from 'cli-progress';

/** A bar on a terminal; elsewhere a line at every quarter. */
export function openProgress(label, total) {
  return process.stderr.isTTY ? barOf(label, total) : linesOf(label, total);
}

function barOf(label, total) {
  const format = '{label} {bar} {percentage}% | {rate} rows/s | {eta_formatted} left';
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true, barsize: 30 });
  bar.start(total, 0, { label: label.padEnd(27), rate: '-' });
  return {
    update: ({ rows, rowsPerSecond }) => bar.update(rows, { rate: Math.round(rowsPerSecond) }),
    stop: () => bar.stop(),
  };
}

function linesOf(label, total) {
  let quarters = 0;
  return {
    update({ rows, rowsPerSecond }) {
      const reached = Math.floor((4 * rows) / total);
      if (reached === quarters) return;
      quarters = reached;
      console.error(`${label}: ${rows} of ${total} rows, ${Math.round(rowsPerSecond)} rows/s`);
    },
    stop() {},
  };
}
