/** What the README shows, for MikroORM 6 and TypeScript's own decorators. */
import { equal, throws } from 'node:assert/strict';
import { Entity, ManyToOne, Property } from '@mikro-orm/core';
import { EntityManager, MikroORM } from '@mikro-orm/better-sqlite';
import { openIdService } from '@raindrop/node';
import { SnowflakePrimaryKey, withSnowflakes } from '@raindrop/orm/mikro-orm';

@Entity()
class Order {
  @SnowflakePrimaryKey()
  id!: string;

  @Property({ type: 'string' })
  customer!: string;
}

abstract class Keyed {
  @SnowflakePrimaryKey({ as: 'bigint' })
  id!: bigint;
}

@Entity()
class Line extends Keyed {
  @ManyToOne(() => Order)
  order!: Order;
}

class Wrong {
  // @ts-expect-error -- the IDs are bigints.
  @SnowflakePrimaryKey({ as: 'bigint' })
  id!: string;
}
void Wrong;
throws(() => SnowflakePrimaryKey({ prefix: 'order' })(Order.prototype, 'id'), /needs MikroORM 7/);

const orm = await MikroORM.init({
  dbName: ':memory:',
  entities: [Order, Line],
  entityManager: withSnowflakes(EntityManager),
});
await orm.getSchemaGenerator().createSchema();
const service = await openIdService({
  layout: 'number',
  workerIdAssigner: 'static',
  workerId: 1,
  restartWaitMs: false,
});
const em = orm.em.fork();
const order = em.create(Order, { customer: 'Ada' });
const line = new Line();
line.order = order;
await em.persist(line).flush();
equal(typeof line.id, 'bigint');
equal(await em.insert(Order, { id: '77', customer: 'Own' }), '77');
const ids: string[] = await em.insertMany(Order, [{ customer: 'Cleo' }, { customer: 'Dan' }]);
equal(new Set([order.id, ...ids]).size, 3);
equal((await orm.em.fork().findOneOrFail(Line, line.id, { populate: ['order'] })).order.customer, 'Ada');
await orm.close(true);
await service.close();
console.log(JSON.stringify({ filled: true }));
