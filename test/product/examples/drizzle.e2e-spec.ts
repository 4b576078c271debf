import { answersAsShown, namesTakenPort } from './answers-as-shown.js';
import { BuiltExample } from './built-example.js';
import { send } from './send.js';

interface Order {
  readonly id: string;
  readonly customer: string;
}

describe.each([
  ['0.45', 'drizzle'],
  ['1.0', 'drizzle-1'],
])('The example "drizzle" with Drizzle %s', (_, orm) => {
  let example: BuiltExample;

  beforeAll(async () => {
    example = await BuiltExample.build('drizzle', orm);
  });

  afterEach(() => example.stopAll());

  afterAll(() => example.drop());

  it('answers as its README shows', () => answersAsShown(example, 'examples/drizzle/README.md'));

  it('names the variable of a port that is taken', () =>
    namesTakenPort((environment) => example.start(undefined, environment)));

  it('gives no ID twice when one of two processes is killed, and has every order after that', async () => {
    const place = async (url: string, customer: string): Promise<Order> =>
      (await send<Order>(`${url}/orders`, { body: { customer } })).body;
    const [one, other] = await Promise.all([example.start(), example.start()]);
    const wishes = Array.from({ length: 100 }, (_, index) =>
      place(index % 2 ? one.url : other.url, `customer ${index}`),
    );
    const placed = await Promise.all(wishes);
    await one.stop('SIGKILL');
    const next = await example.start();
    placed.push(await place(next.url, 'Ada'), await place(other.url, 'Grace'));
    expect(new Set(placed.map(({ id }) => id)).size).toBe(102);
    for (const order of placed)
      expect(await send(`${next.url}/orders/${order.id}`)).toEqual({ status: 200, body: order });
  });

  it('refuses what is no ID, and knows which ones it has not', async () => {
    const { url } = await example.start();
    expect((await send(`${url}/orders/30586178364244026x`)).status).toBe(400);
    expect((await send(`${url}/orders/5`)).status).toBe(404);
  });

  it('refuses an order that lacks what it needs', async () => {
    const { url } = await example.start();
    for (const body of [{}, { customer: 5 }]) expect((await send(`${url}/orders`, { body })).status).toBe(400);
  });
});
