/** Inserts on many ways until it is killed. Each ID is in the file before it is used; each round is printed. */
import { appendFileSync } from 'node:fs';
import { openIdService } from '@raindrop/node';
import { connect, dbConfig, define, Item, Order } from './shop.js';

interface Given {
  /** Where the IDs are written, a line each. */
  readonly file: string;
  /** Makes the tables, and inserts nothing. */
  readonly isFirst: boolean;
}

const { file, isFirst } = JSON.parse(process.argv[2]!) as Given;
const service = await openIdService({
  dbConfig,
  // The checks open a service of another layout in this database.
  tableName: 'raindrop_inserters',
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
// Two processes write to one file of SQLite: one waits for the other.
const sequelize = connect({ retry: { match: [/SQLITE_BUSY/], max: 50 }, pool: { max: 1 } });
define(sequelize, { ids });
if (isFirst) await sequelize.sync({ force: true });
for (let round = 0; !isFirst; round++) {
  const codes = Array.from({ length: 8 }, (_, n) => `${process.pid}.${round}.${n}`);
  const row = (n: number): { code: string; customer: string } => ({ code: codes[n]!, customer: 'a' });
  await Order.create({ ...row(0), items: [{ name: 'x' }, { name: 'y' }] }, { include: ['items'] });
  await Order.build(row(1)).save();
  await Order.bulkCreate([row(2), row(3)], { fields: ['code'] });
  await sequelize.getQueryInterface().bulkInsert('orders', [{ code: codes[4] }]);
  await sequelize.transaction(async (transaction) => {
    const [order] = await Order.upsert(row(5), { transaction });
    await Item.create({ name: 'z', orderId: order.id }, { transaction });
  });
  await Order.bulkCreate([row(5), row(6)], { updateOnDuplicate: ['customer'] });
  const all = await Order.bulkCreate([row(6), row(7)], { ignoreDuplicates: true });
  await Item.create({ name: 'w', orderId: all[1]!.id });
  console.log(`round ${round}`);
}
await sequelize.close();
await service.close();
console.log('{}');
