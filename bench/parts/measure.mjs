import { do_not_optimize, measure } from 'mitata';
import { median } from 'simple-statistics';
import { orMoment } from './moment.mjs';

/** One sample of a contender; long enough for the garbage collector's turns to be in it. */
const SAMPLE_CPU_NS = orMoment(60e6, 1e6);

/**
 * Nanoseconds per ID of several calls, by name. They take turns, so that what disturbs the machine disturbs all of them:
 * the figure of each is the median of its rounds, each of which is the median of mitata's samples.
 *
 * @param {Record<string, () => unknown>} calls
 * @param {{ rounds?: number, idsPerCall?: number }} options
 * @returns {Promise<Record<string, number>>}
 */
export async function nsPerId(calls, { rounds = 7, idsPerCall = 1 } = {}) {
  const samples = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
  // mitata decides by the first calls whether to time them one by one, which the clock's resolution does not allow.
  for (const call of Object.values(calls)) for (let left = 20_000; left > 0; left -= idsPerCall) call();
  const probes = Object.entries(calls).map(([name, call]) => [name, makeProbe(call, do_not_optimize)]);
  for (let round = 0; round < orMoment(rounds, 1); round++) {
    for (const [name, probe] of probes) {
      const { p50 } = await measure(probe, { min_cpu_time: SAMPLE_CPU_NS });
      samples[name].push(p50 / idsPerCall);
      // Timers and the lease get their turn before the next one.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, each]) => [name, median(each)]));
}

/** Compiled anew for each call: in code that all share, V8 could not inline the quick ones. */
function makeProbe(call, keep) {
  return new Function('call', 'keep', 'return () => keep(call())')(call, keep);
}
