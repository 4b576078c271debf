import { nsPerId } from '../parts/measure.mjs';
import { orMoment } from '../parts/moment.mjs';
import { faultsOf, PEERS } from '../parts/peers.mjs';
import { milliseconds, openService, WIDE } from '../parts/service.mjs';

export const question = 'How do other generators compare, in a tight loop and for seconds?';

/** Ten seconds and more, if somebody has the time. */
const SUSTAINED_MS = orMoment(Number(process.env.SUSTAINED_SECONDS ?? 1) * 1_000, 10);

const EXACT = "nextId(), clock: 'exact'";
/** Of those that issue bigints and have no fault. */
const FASTEST = 'the fastest of them';

export async function measure() {
  const wide = await openService(WIDE);
  const ours = { bigint: () => wide.ids.nextId(), text: () => wide.ids.nextString() };
  const ns = await nsPerId({ 'nextId()': ours.bigint, 'nextString()': ours.text }, { rounds: 3 });
  await wide.close();
  const exact = await openService({ ...WIDE, clock: 'exact' });
  Object.assign(ns, await nsPerId({ [EXACT]: () => exact.ids.nextId() }, { rounds: 3 }));
  await exact.close();

  const peers = PEERS.map((peer) => ({ ...peer, ...peer.make(), faults: faultsOf(peer) }));
  const figures = [];
  for (const { name, make, bigint, text, faults, timeOf } of peers) {
    const note = faults.join('; ');
    const calls =
      bigint === undefined ? { [name]: text } : { [name]: bigint, [asText(name)]: () => bigint().toString() };
    const times = await nsPerId(calls, { rounds: 3 });
    Object.assign(ns, times);
    figures.push(...Object.entries(times).map(([each, value]) => ({ name: each, value, unit: 'ns', note })));
    const fresh = make();
    const { perSecond, aheadMs } = sustained(fresh.bigint ?? fresh.text, timeOf);
    const ahead = aheadMs > 1 ? `runs up to ${Math.round(aheadMs)} ms into the future` : '';
    figures.push({ name: `${name}, sustained`, value: perSecond, unit: 'IDs/s', note: ahead });
  }
  figures.push(...(await usedUpTicks()));

  const fastest = peers
    .filter(({ bigint, faults }) => bigint !== undefined && faults.length === 0)
    .reduce((best, each) => (ns[each.name] < ns[best.name] ? each : best)).name;
  return {
    figures,
    ratios: [
      { name: `${FASTEST} / nextId()`, value: ns[fastest] / ns['nextId()'], atLeast: 10, note: fastest },
      { name: `${FASTEST} / ${EXACT}`, value: ns[fastest] / ns[EXACT], atLeast: 2.5, note: fastest },
      {
        name: `${asText(FASTEST)} / nextString()`,
        value: ns[asText(fastest)] / ns['nextString()'],
        atLeast: 10,
        note: fastest,
      },
    ],
  };
}

/** Without a pause, for a while: how many a second, and how far ahead of the clock. */
function sustained(next, timeOf) {
  const begun = performance.now();
  let [issued, aheadMs, id] = [0, 0];
  while (performance.now() - begun < SUSTAINED_MS) {
    for (let left = 256; left > 0; left--) id = next();
    issued += 256;
    if (timeOf !== undefined) aheadMs = Math.max(aheadMs, timeOf(id) - Date.now());
  }
  return { perSecond: (issued / (performance.now() - begun)) * 1_000, aheadMs };
}

/** Layouts whose capacity is the limit: every millisecond is used up, and the call waits. */
async function usedUpTicks() {
  const figures = [];
  for (const sequenceBits of [11, 12]) {
    const { ids, close } = await openService(milliseconds(sequenceBits));
    const begun = performance.now();
    let issued = 0;
    while (performance.now() - begun < SUSTAINED_MS) {
      await ids.nextIdsAsync(256);
      issued += 256;
    }
    const value = (issued / (performance.now() - begun)) * 1_000;
    await close();
    const note = `capacity ${ids.layout.idsPerSecond.toLocaleString('en')}`;
    figures.push({ name: `nextIdsAsync(), ${2 ** sequenceBits} IDs per ms, sustained`, value, unit: 'IDs/s', note });
  }
  return figures;
}

function asText(name) {
  return `${name}, as text`;
}
