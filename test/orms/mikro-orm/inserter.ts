/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-member-access -- the types of the two versions differ */
/** Inserts on many ways until it is killed. Each ID is in the file before it is used; each round is printed. */
import { appendFileSync } from 'node:fs';
import { openIdService } from '@raindrop/node';
import { connect, createSchema, database, defineShop } from './shop.js';

interface Given {
  /** Where the IDs are written, a line each. */
  readonly file: string;
  /** Makes the tables, and inserts nothing. */
  readonly isFirst: boolean;
}

const { file, isFirst } = JSON.parse(process.argv[2]!) as Given;
const service = await openIdService({
  dbConfig: database as never,
  startTimeStamp: '2026-01-01',
  timeStampLength: 33,
  workIdLength: 7,
  endBitsLength: 1,
});
const ids = {
  nextId: () => BigInt(ids.nextString()),
  nextString: () => {
    const id = service.nextString();
    appendFileSync(file, `${id}\n`);
    return id;
  },
};
const { Order, Item, entities } = defineShop({ ids });
const orm = await connect(entities);
if (isFirst) await createSchema(orm);
for (let round = 0; !isFirst; round++) {
  const em = orm.em.fork();
  const codes = Array.from({ length: 8 }, (_, n) => `${process.pid}.${round}.${n}`);
  const row = (n: number): object => ({ code: codes[n], customer: 'a' });
  em.create(Order, { ...row(0), items: [{ name: 'x' }, { name: 'y' }] });
  em.create(Order, row(1));
  await em.flush();
  await em.insert(Order, row(2));
  await em.insertMany(Order, [row(3), row(4), row(5)]);
  await em.transactional(async (inner: any) => {
    const order = await inner.upsert(Order, row(6));
    await inner.insert(Item, { name: 'z', order: order.id });
  });
  await em.upsertMany(Order, [row(6), row(7)]);
  console.log(`round ${round}`);
}
await orm.close(true);
await service.close();
console.log('{}');
