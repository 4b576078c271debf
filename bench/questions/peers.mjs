import { nsPerId } from '../parts/measure.mjs';
import { orMoment } from '../parts/moment.mjs';
import { faultsOf, PEERS } from '../parts/peers.mjs';
import { milliseconds, openService, WIDE } from '../parts/service.mjs';

export const question = 'How do other generators compare, in a tight loop and for seconds?';

/** Ten seconds and more, if somebody has the time. */
const SUSTAINED_MS = orMoment(Number(process.env.SUSTAINED_SECONDS ?? 1) * 1_000, 10);

const EXACT = "nextId(), clock: 'exact'";
/** The one of those that issue bigints and have no fault. */
const FASTEST = 'the fastest of them';

export async function measure() {
  const peers = PEERS.map((peer) => ({ ...peer, ...peer.make(), faults: faultsOf(peer) }));
  const figures = [];
  const ns = {};
  for (const { name, make, bigint, text, faults, timeOf } of peers) {
    const note = faults.join('; ');
    const times = await nsPerId(callsOf({ name, bigint, text }), { rounds: 3 });
    Object.assign(ns, times);
    figures.push(...Object.entries(times).map(([each, value]) => ({ name: each, value, unit: 'ns', note })));
    const fresh = make();
    const { perSecond, aheadMs } = sustained(fresh.bigint ?? fresh.text, timeOf);
    const ahead = aheadMs > 1 ? `runs up to ${Math.round(aheadMs)} ms into the future` : '';
    figures.push({ name: `${name}, sustained`, value: perSecond, unit: 'IDs/s', note: ahead });
  }
  const fastest = peers
    .filter(({ bigint, faults }) => bigint !== undefined && faults.length === 0)
    .reduce((best, each) => (ns[each.name] < ns[best.name] ? each : best));

  const ratios = [
    ...(await besideOurs(fastest, WIDE, [
      { name: 'nextId()', call: (ids) => ids.nextId(), peer: fastest.name, peerName: FASTEST, atLeast: 10 },
      {
        name: 'nextString()',
        call: (ids) => ids.nextString(),
        atLeast: 10,
        peer: asText(fastest.name),
        peerName: asText(FASTEST),
      },
    ])),
    ...(await besideOurs(fastest, { ...WIDE, clock: 'exact' }, [
      { name: EXACT, call: (ids) => ids.nextId(), peer: fastest.name, peerName: FASTEST, atLeast: 2.5 },
    ])),
  ];
  figures.push(...(await usedUpTicks()));
  return { figures, ratios };
}

/** The fastest generator and a service of ours, in turns: what disturbs the machine disturbs both. */
async function besideOurs(fastest, options, pairs) {
  const { ids, close } = await openService(options);
  const ours = Object.fromEntries(pairs.map(({ name, call }) => [name, () => call(ids)]));
  const ns = await nsPerId({ ...ours, ...callsOf(fastest) });
  await close();
  return pairs.map(({ name, peer, peerName, atLeast }) => ({
    name: `${peerName} / ${name}`,
    value: ns[peer] / ns[name],
    atLeast,
    note: fastest.name,
  }));
}

function callsOf({ name, bigint, text }) {
  return bigint === undefined ? { [name]: text } : { [name]: bigint, [asText(name)]: () => bigint().toString() };
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
