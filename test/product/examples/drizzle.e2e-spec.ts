import Database from 'better-sqlite3';
import { join } from 'node:path';
import { publicIds } from '@raindrop/nestjs/public-ids';
import { answersAsShown, namesTakenPort } from './answers-as-shown.js';
import { BuiltExample } from './built-example.js';
import { send } from './send.js';

const KEY = '00112233445566778899aabbccddeeff';
const environment = { PUBLIC_ID_KEY_1: KEY };
const orderIds = publicIds({ keys: { k1: KEY }, current: 'k1', purpose: 'order' });

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
    namesTakenPort((port) => example.start(undefined, { ...environment, ...port })));

  it('gives no ID twice when one of two processes is killed, and has every order after that', async () => {
    const place = async (url: string, customer: string): Promise<Order> =>
      (await send<Order>(`${url}/orders`, { body: { customer } })).body;
    const [one, other] = await Promise.all([
      example.start(undefined, environment),
      example.start(undefined, environment),
    ]);
    const wishes = Array.from({ length: 100 }, (_, index) =>
      place(index % 2 ? one.url : other.url, `customer ${index}`),
    );
    const placed = await Promise.all(wishes);
    await one.stop('SIGKILL');
    const next = await example.start(undefined, environment);
    placed.push(await place(next.url, 'Ada'), await place(other.url, 'Grace'));
    expect(new Set(placed.map(({ id }) => id)).size).toBe(102);
    for (const order of placed)
      expect(await send(`${next.url}/orders/${order.id}`)).toEqual({ status: 200, body: order });
  });

  it('shows public IDs only, and keeps plain ones', async () => {
    const { url } = await example.start(undefined, environment);
    const { body } = await send<Order>(`${url}/orders`, { body: { customer: 'Ada' } });
    const plain = orderIds.decode(body.id);
    const database = new Database(join(example.folder, 'orders.sqlite'), { readonly: true });
    const row = database.prepare('select customer from orders where id = ?').get(String(plain));
    database.close();
    expect(row).toEqual({ customer: 'Ada' });
    expect(await send(`${url}/orders/${plain}`)).toMatchObject({
      status: 400,
      body: { message: [expect.stringMatching(/^must be the id of a key \(k1\) followed by 11 characters/)] },
    });
  });

  it('refuses what is no ID, and knows which ones it has not', async () => {
    const { url } = await example.start(undefined, environment);
    expect((await send(`${url}/orders/k18E13pR0knv-`)).status).toBe(400);
    expect((await send(`${url}/orders/${orderIds.encode(5n)}`)).status).toBe(404);
  });

  it('refuses an order that lacks what it needs', async () => {
    const { url } = await example.start(undefined, environment);
    for (const body of [{}, { customer: 5 }]) expect((await send(`${url}/orders`, { body })).status).toBe(400);
  });
});
