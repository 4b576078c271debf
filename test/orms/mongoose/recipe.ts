/**
 * The recipe of docs/drivers.md, on the documents that Mongoose makes and on the operations that it would send. There is no
 * server here.
 */
import { deepEqual, equal } from 'node:assert/strict';
import { openIdService } from '@raindrop/node';
import mongoose from 'mongoose';

const ids = await openIdService({ workerIdAssigner: 'static', workerId: 3, restartWaitMs: false });

const { Schema, model } = mongoose;

const snowflakeId = { type: String, default: () => ids.nextString() };

const lineSchema = new Schema({ _id: snowflakeId, product: String });
const orderSchema = new Schema({ _id: snowflakeId, customer: String, lines: [lineSchema] });

// An upsert takes no default for _id: the server would make an ObjectId.
orderSchema.pre(['findOneAndUpdate', 'updateOne', 'updateMany', 'replaceOne', 'findOneAndReplace'], function () {
  if (this.getOptions().upsert !== true || this.getQuery()['_id'] !== undefined) return;
  const given = (this.getUpdate() as { $setOnInsert?: { _id?: string } } | null)?.$setOnInsert?._id;
  if (given === undefined) throw new Error('An upsert needs an ID: $setOnInsert: { _id: ids.nextString() }');
});

const Order = model('Order', orderSchema);

const isOurs = (id: unknown): boolean => typeof id === 'string' && /^\d{17,19}$/.test(id);

const order = new Order({ customer: 'Ada', lines: [{ product: 'tea' }, { product: 'cups' }] });
equal(isOurs(order._id), true);
equal(
  order.lines.every((line) => isOurs(line._id)),
  true,
);
equal(new Set([order._id, ...order.lines.map((line) => line._id)]).size, 3);
equal(new Order({ _id: '5', customer: 'Bob' })._id, '5');
equal(new Order({ _id: undefined, customer: 'Bob' })._id === undefined, false);
order.lines.push({ product: 'milk' });
equal(isOurs(order.lines[2]!._id), true);
equal(await order.validate(), undefined);
equal((JSON.parse(JSON.stringify(order)) as { _id: string })._id, order._id);

// The condition of a find keeps every digit.
deepEqual(Order.findById(order._id).cast(Order), { _id: order._id });

const own = Order.findOneAndUpdate({ customer: 'Ada' }, { $setOnInsert: { _id: ids.nextString() } }, { upsert: true });
equal(isOurs((own.getUpdate() as { $setOnInsert: { _id: string } }).$setOnInsert._id), true);

// A refused upsert is sent to no server.
const refused = await Order.findOneAndUpdate({ customer: 'Ada' }, { customer: 'Cleo' }, { upsert: true }).then(
  () => 'sent',
  (error: Error) => error.message,
);
equal(refused, 'An upsert needs an ID: $setOnInsert: { _id: ids.nextString() }');
await ids.close();
console.log(JSON.stringify({ passed: 10 }));
