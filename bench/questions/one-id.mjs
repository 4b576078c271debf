import crypto, { randomUUID } from 'node:crypto';
import { exactFloor, numberFloor, textFloor, turnFloor } from '../parts/floors.mjs';
import { nsPerId } from '../parts/measure.mjs';
import { openService, WIDE, YOUNG } from '../parts/service.mjs';

export const question = 'How long does one ID take, beside the least that its technique costs?';

/** Node's own UUIDs by time, where it has them: since 24.16 and 26.1. */
const { randomUUIDv7 } = crypto;

/** The original in Go at this layout, and `crypto.randomUUID()` on the machine that measured it. */
const GO = { nextId: 19.2, randomUUID: 86 };

export async function measure() {
  const ns = {
    ...(await withService(WIDE, (ids) => ({
      'nextId()': () => ids.nextId(),
      'floor: a 64-bit cell': turnFloor(),
      'nextString()': () => ids.nextString(),
      'floor: a shared head and a tail from a table': textFloor(),
      'crypto.randomUUID()': () => randomUUID(),
      ...(randomUUIDv7 && { 'crypto.randomUUIDv7()': () => randomUUIDv7() }),
    }))),
    ...(await withService(YOUNG, (ids) => ({
      'nextNumber()': () => ids.nextNumber(),
      'floor: a base and an offset': numberFloor(),
    }))),
    ...(await withService({ ...WIDE, clock: 'exact' }, (ids) => ({
      "nextId(), clock: 'exact'": () => ids.nextId(),
      'floor: a 64-bit cell and Date.now()': exactFloor(),
    }))),
  };
  const ratio = (one, other, target) => ({ name: `${one} / ${other}`, value: ns[one] / ns[other], ...target });
  return {
    figures: Object.entries(ns).map(([name, value]) => ({ name, value, unit: 'ns' })),
    ratios: [
      ratio('nextId()', 'floor: a 64-bit cell', { atMost: 1.5 }),
      ratio('nextString()', 'floor: a shared head and a tail from a table', { atMost: 1.8 }),
      ratio('nextNumber()', 'floor: a base and an offset', { atMost: 1.75 }),
      ratio("nextId(), clock: 'exact'", 'floor: a 64-bit cell and Date.now()', { atMost: 1.5 }),
      ratio('crypto.randomUUID()', 'nextId()', { atLeast: 10 }),
      ...(randomUUIDv7 ? [ratio('crypto.randomUUIDv7()', 'nextString()')] : []),
      {
        name: 'nextId() / the original in Go',
        value: ns['nextId()'] / ns['crypto.randomUUID()'] / (GO.nextId / GO.randomUUID),
        atMost: 1,
        note: 'each in units of crypto.randomUUID() on its machine',
      },
    ],
  };
}

async function withService(options, calls) {
  const { ids, close } = await openService(options);
  try {
    return await nsPerId(calls(ids));
  } finally {
    await close();
  }
}
