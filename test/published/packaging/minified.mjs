/** The application of minified.e2e-spec.ts, which minifies it too. Given the files that have classes of errors; prints JSON. */
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { DataSource, Entity } from 'typeorm';

const require = createRequire(import.meta.url);
const { ClosedError, RaindropError } = require('@raindrop/core');
const { openIdService } = require('@raindrop/node');
const { attachIdService, GeneratedSnowflake } = require('@raindrop/typeorm');
const named = {};
const [ours, ...files] = process.argv.slice(2);
for (const file of files) {
  for (const [name, type] of Object.entries(require(file))) {
    if (!(type?.prototype instanceof Error) || !('errorCode' in type.prototype || RaindropError.isPrototypeOf(type)))
      continue;
    const error = Reflect.construct(
      RaindropError.prototype.isPrototypeOf(type.prototype) ? RaindropError : type,
      ['x', {}],
      type,
    );
    named[name] = { ofClass: type.name, ofError: error.name };
  }
}

class Order {}
Entity('orders')(Order);
Reflect.defineMetadata('design:type', Number, Order.prototype, 'id');
GeneratedSnowflake()(Order.prototype, 'id');

const layout = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
const ids = await openIdService({ ...layout, workerIdAssigner: 'static', workerId: 3, restartWaitMs: false });
const dataSource = new DataSource({
  type: 'better-sqlite3',
  database: ':memory:',
  entities: [Order],
  synchronize: true,
});
await dataSource.initialize();
const failed = (work) =>
  work().then(
    () => undefined,
    ({ name, errorCode, message }) => ({ name, errorCode, message }),
  );
const unattached = await failed(() => dataSource.manager.insert(Order, {}));
const rounded = await failed(async () => attachIdService(dataSource, ids));
await dataSource.destroy();
await ids.close();

// The copy of the spec, which is not minified.
const other = createRequire(ours)('@raindrop/core');
const error = new ClosedError();
const across = {
  acrossCopies: [
    error instanceof other.RaindropError,
    error instanceof other.ClosedError,
    error instanceof other.InvalidIdError,
  ],
  back: [new other.ClosedError() instanceof ClosedError, new other.ClosedError() instanceof RaindropError],
};
console.log(JSON.stringify({ named, short: Order.name, rounded, unattached: unattached.message, ...across }));
