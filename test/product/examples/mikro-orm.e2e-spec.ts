import { answersAsShown, namesTakenPort } from './answers-as-shown.js';
import { BuiltExample } from './built-example.js';
import { send } from './send.js';

interface Order {
  readonly id: string;
  readonly reference: string;
  readonly customer: string;
}

describe('The example "mikro-orm"', () => {
  let example: BuiltExample;

  beforeAll(async () => {
    example = await BuiltExample.build('mikro-orm', 'mikro-orm');
  });

  afterEach(() => example.stopAll());

  afterAll(() => example.drop());

  it('answers as its README shows', () => answersAsShown(example, 'examples/mikro-orm/README.md'));

  it('names the variable of a port that is taken', () =>
    namesTakenPort((environment) => example.start(undefined, environment)));

  it('gives each order an ID of its own, which a restart repeats for none', async () => {
    const place = async (url: string, reference: string): Promise<Order> => {
      const { status, body } = await send<Order>(`${url}/orders`, { body: { reference, customer: 'Cleo' } });
      expect(status).toBe(201);
      return body;
    };
    const first = await example.start();
    const placed = await Promise.all(Array.from({ length: 50 }, (_, index) => place(first.url, `B-${index}`)));
    const many = Array.from({ length: 50 }, (_, index) => ({ reference: `C-${index}`, customer: 'Dan' }));
    const { body: ids } = await send<string[]>(`${first.url}/orders/many`, { body: many });
    const { body: seeded } = await send<Order[]>(`${first.url}/orders`);
    expect(await first.stop()).toBe('SIGTERM');

    const second = await example.start();
    const later = await place(second.url, 'D-1');
    const all = [...placed.map(({ id }) => id), ...ids, later.id];
    expect(new Set(all).size).toBe(101);
    for (const id of all) expect(id).toMatch(/^\d{17,}$/);
    for (const order of [placed[0]!, later]) {
      expect(await send(`${second.url}/orders/${order.id}`)).toEqual({ status: 200, body: order });
    }
    const { body: found } = await send<Order[]>(`${second.url}/orders`);
    const firsts = [...seeded, ...found].filter(({ reference }) => reference === 'first');
    expect(firsts).toHaveLength(2);
    expect(new Set(firsts.map(({ id }) => id)).size).toBe(1);
    expect(all.every((id) => found.some((order) => order.id === id))).toBe(true);
  });

  it('refuses an ID that is none, and one that no order has', async () => {
    const { url } = await example.start();
    expect((await send(`${url}/orders/12abc`)).status).toBe(400);
    expect((await send(`${url}/orders/1`)).status).toBe(404);
  });

  it('refuses orders that lack what they need, and a reference that is taken', async () => {
    const { url } = await example.start();
    const post = async (path: string, body: object): Promise<number> => (await send(`${url}${path}`, { body })).status;
    const order = { reference: 'E-1', customer: 'Eve' };
    for (const body of [{}, { reference: 'E-2' }]) expect(await post('/orders', body)).toBe(400);
    for (const body of [{}, [{}]]) expect(await post('/orders/many', body)).toBe(400);
    expect([await post('/orders', order), await post('/orders', order)]).toEqual([201, 409]);
    expect(await post('/orders/many', [order])).toBe(409);
  });
});
