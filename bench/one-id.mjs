// How long does one ID take, beside its floor and beside other generators? Run: npm run bench
import { exactFloor, numberFloor, turnFloor } from './parts/floors.mjs';
import { environment, nsPerId, printTable } from './parts/measure.mjs';
import { faultsOf, PEERS } from './parts/peers.mjs';
import { openService, WIDE, YOUNG } from './parts/service.mjs';

console.log(environment());
const time = async (name, call, note) => ({ name, ns: await nsPerId(call), note });

const turn = await openService(WIDE);
const rows = [
  await time('floor: cell, clock of the turn', turnFloor()),
  await time('nextId()', () => turn.ids.nextId()),
];
const handle = turn.ids.forCode('order');
rows.push(await time(`forCode('order').nextId()`, () => handle.nextId()));
rows.push(await time('nextString()', () => turn.ids.nextString()));
await turn.close();

const young = await openService(YOUNG);
rows.push(await time('floor: number, clock of the turn', numberFloor()));
rows.push(await time('nextNumber()', () => young.ids.nextNumber()));
await young.close();

const exact = await openService({ ...WIDE, clock: 'exact' });
rows.push(await time('floor: cell, Date.now()', exactFloor()));
rows.push(await time(`nextId(), clock: 'exact'`, () => exact.ids.nextId()));
await exact.close();

for (const peer of PEERS) {
  const { bigint, text } = peer.make();
  const faults = faultsOf(peer).join('; ');
  if (bigint !== undefined) {
    rows.push(await time(peer.name, bigint, faults));
    rows.push(await time(`${peer.name}, as text`, () => bigint().toString(), faults));
  } else rows.push(await time(peer.name, text, faults));
}
printTable('One ID, ns, and how many times nextId()', rows, 'nextId()');
