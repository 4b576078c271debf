import { CommanderError } from 'commander';
import { parseChaos, type ChaosOrders } from './chaos-command.js';
import { asksForEngine, parseEngine, type EngineOrders } from './engine-command.js';
import { summarise } from '../chaos-report.js';
import { ChaosRun } from '../chaos-run.js';
import { summariseEngine } from '../engines/engine-report.js';
import { recordEngineResult } from '../engines/engine-results.js';
import { runLeg } from '../engines/run-leg.js';
import { FaketimeMissingError } from '../fake-clock.js';
import { summariseSegments } from '../segments/segment-report.js';
import { SegmentRun } from '../segments/segment-run.js';

/** Options that cannot be followed. */
const BAD_OPTIONS_EXIT = 2;

async function main(): Promise<number> {
  let orders;
  try {
    orders = asksForEngine(process.argv) ? parseEngine(process.argv) : parseChaos(process.argv);
  } catch (error) {
    // Commander has said what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_OPTIONS_EXIT;
    throw error;
  }
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());
  try {
    orders.progress(`seed ${orders.seed}`);
    const { signal } = interruption;
    return ('engine' in orders ? await runEngine(orders, signal) : await runAll(orders, signal)) ? 0 : 1;
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    console.error(error instanceof FaketimeMissingError ? error.message : error);
    return error instanceof FaketimeMissingError ? BAD_OPTIONS_EXIT : 1;
  }
}

async function runEngine(orders: EngineOrders, signal: AbortSignal): Promise<boolean> {
  const report = await runLeg(orders, signal);
  console.log(orders.json ? JSON.stringify(report) : summariseEngine(report));
  if (orders.record && report.passed) recordEngineResult(report);
  return report.passed;
}

/** Answers whether everything has passed. What comes second runs in any case. */
async function runAll({ workers, segments, json }: ChaosOrders, signal: AbortSignal): Promise<boolean> {
  let passed = true;
  if (workers !== undefined) {
    const report = await new ChaosRun(workers, signal).run();
    console.log(json ? JSON.stringify(report) : summarise(report));
    passed = report.passed;
  }
  if (segments !== undefined) {
    const report = await new SegmentRun(segments, signal).run();
    console.log(json ? JSON.stringify(report) : summariseSegments(report));
    passed &&= report.passed;
  }
  return passed;
}

void main().then((code) => {
  process.exitCode = code;
});
