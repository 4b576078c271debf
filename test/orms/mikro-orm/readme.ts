/** What the README shows for MikroORM 7, with standard decorators, and classes that inherit their key. */
import { equal, rejects, throws } from 'node:assert/strict';
import { Entity, ManyToOne, Property } from '@mikro-orm/decorators/es';
import { Property as LegacyProperty } from '@mikro-orm/decorators/legacy';
import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { EntityManager, MikroORM } from '@mikro-orm/sqlite';
import { openIdService } from '@raindrop/node';
import { SnowflakePrimaryKey, snowflakeKey, withSnowflakes } from '@raindrop/orm/mikro-orm';

@Entity()
class Order {
  @SnowflakePrimaryKey()
  id!: string;

  @Property({ type: 'string' })
  customer!: string;
}

/** Its children take the key over. */
abstract class Keyed {
  @SnowflakePrimaryKey({ as: 'bigint' })
  id!: bigint;
}

@Entity({ discriminatorColumn: 'kind', discriminatorMap: { cat: 'Cat', animal: 'Animal' } })
class Animal extends Keyed {
  @Property({ type: 'string' })
  kind!: string;

  @ManyToOne(() => Order, { nullable: true })
  order?: Order;
}

@Entity()
class Cat extends Animal {
  @Property({ type: 'string', nullable: true })
  purr?: string;
}

class Wrong {
  // @ts-expect-error -- the IDs are bigints.
  @SnowflakePrimaryKey({ as: 'bigint' })
  id!: string;
}

/** As `experimentalDecorators` calls them. */
class Legacy {
  id!: string;
  customer!: string;
}
SnowflakePrimaryKey({ prefix: 'order' })(Legacy.prototype, 'id');
LegacyProperty({ type: 'string' })(Legacy.prototype, 'customer');

const Line = defineEntity({
  name: 'Line',
  properties: (p) => ({ id: snowflakeKey({ as: 'bigint' }), name: p.string(), order: () => p.manyToOne(Order) }),
});
const lineId: InferEntity<typeof Line>['id'] & bigint = 1n;
void [Wrong, lineId];

throws(() => SnowflakePrimaryKey({ as: 'text' as 'string' })({ id: '' }, 'id'), { errorCode: 'CONFIGURATION' });

const orm = await MikroORM.init({
  dbName: ':memory:',
  entities: [Order, Animal, Cat, Line],
  entityManager: withSnowflakes(EntityManager),
});
await orm.schema.create();
await rejects(orm.em.fork().insert(Order, { customer: 'early' }), { errorCode: 'NO_OPEN_SERVICE' });

const service = await openIdService({
  layout: 'number',
  workerIdAssigner: 'static',
  workerId: 1,
  restartWaitMs: false,
});
const em = orm.em.fork();
const order = em.create(Order, { customer: 'Ada' });
equal(BigInt(order.id) > 0n, true);
const cat = new Cat();
cat.order = new Order();
cat.order.customer = 'Bob';
await em.persist([order, cat]).flush();
equal(typeof cat.id, 'bigint');
equal(await em.insert(Order, { id: '77', customer: 'Own' }), '77');
const ids: string[] = await em.insertMany(Order, [{ customer: 'Cleo' }, { customer: 'Dan' }]);
equal(new Set([order.id, cat.order.id, ...ids]).size, 4);
const animal: bigint = await em.insert(Animal, { kind: 'animal' });
const line = em.create(Line, { name: 'x', order });
await em.flush();
equal((await orm.em.fork().findOneOrFail(Line, line.id)).order.id, order.id);
equal((await orm.em.fork().findOneOrFail(Cat, cat.id, { populate: ['order'] })).order!.customer, 'Bob');
equal((await orm.em.fork().findOneOrFail(Animal, animal)).id, animal);
await orm.close(true);
await service.close();
console.log(JSON.stringify({ filled: true }));
