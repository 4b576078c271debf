/** What `tsc` makes of the client that docs/prisma.md shows. The compiler is the test: nothing here runs. */

import { type KeyIds, snowflakes, type SnowflakesExtension } from '@raindrop/orm/prisma';
import { type Order, type Prisma, PrismaClient } from './generated/postgresql-BigInt/client/client.js';
import { adapter } from './shop.js';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function is<A>(): <B>(value: B, isSame: Same<A, B>) => void;
declare const ids: KeyIds;

export async function created(): Promise<void> {
  const prisma = new PrismaClient({ adapter: adapter() }).$extends(snowflakes(ids));
  const order = await prisma.order.create({ data: { number: 'A-1', lines: { create: { name: 'one' } } } });
  is<Order>()(order, true);
  is<bigint>()(order.id, true);
  const many = await prisma.order.createManyAndReturn({ data: [{ number: 'A-2' }, { number: 'A-3', id: 1n }] });
  is<Order[]>()(many, true);
  const found = await prisma.order.findFirstOrThrow({ include: { lines: true, customer: { select: { id: true } } } });
  is<bigint>()(found.lines[0]!.orderId, true);
  is<{ id: bigint } | null>()(found.customer, true);
  await prisma.$transaction(async (own) => {
    const count = await own.order.count();
    is<number>()(count, true);
    await own.bare.create();
  });
  const [first, second] = await prisma.$transaction([
    prisma.order.create({ data: { number: 'A-4' } }),
    prisma.tag.count(),
  ]);
  is<Order>()(first, true);
  is<number>()(second, true);
  // @ts-expect-error an ID is never null
  await prisma.order.create({ data: { id: null, number: 'A-5' } });
  // @ts-expect-error the number is required
  await prisma.order.create({ data: {} });
}

export async function numbers(): Promise<void> {
  const prisma = new PrismaClient({ adapter: adapter() })
    .$extends(snowflakes({ ids, models: { Order: ['id'] } }))
    .$extends({
      result: { order: { id: { needs: { id: true }, compute: ({ id }) => Number(id) } } },
      model: { order: { async first() {} } },
    });
  const order = await prisma.order.create({ data: { number: 'A-1' } });
  is<number>()(order.id, true);
  await prisma.order.first();
}

/** Extensions may stand before and behind it. */
export function others(extension: SnowflakesExtension): void {
  const prisma = new PrismaClient({ adapter: adapter() })
    .$extends({ client: { greet: () => 'hello' } })
    .$extends(extension)
    .$extends(snowflakes(() => ids));
  const greeting = prisma.greet();
  is<'hello'>()(greeting, true);
  prisma.order satisfies object;
  ({ data: { number: 'A-1' } }) satisfies Prisma.OrderCreateArgs;
}

// @ts-expect-error the type of the field says the form
snowflakes({ as: 'bigint' });
// @ts-expect-error a misspelt option
snowflakes({ servise: 'default' });
snowflakes({ service: 'orders', code: 'order', models: { Order: { id: { prefix: 'order' } }, Legacy: [] } });
