import { answersAsShown, namesTakenPort } from './answers-as-shown.js';
import { BuiltExample } from './built-example.js';
import { send, type Answer } from './send.js';

const TENANTS = ['acme', 'globex'];
const ORDERS_EACH = 30;

interface Order {
  readonly id: string;
  readonly tenant: string;
  readonly reference: string;
  readonly invoice: string;
  readonly customer: string;
}

describe('The example "multi-tenant"', () => {
  let example: BuiltExample;
  let url: string;

  beforeAll(async () => {
    example = await BuiltExample.build('multi-tenant');
    ({ url } = await example.start());
  });

  afterAll(() => example.drop());

  const place = (tenant: string): Promise<Answer<Order>> =>
    send(`${url}/orders`, { headers: { 'x-tenant': tenant }, body: { customer: 'Ada' } });

  const find = (tenant: string, id: string): Promise<Answer<Order>> =>
    send(`${url}/orders/${id}`, { headers: { 'x-tenant': tenant } });

  it('gives every order a typed ID, every tenant references of its own and invoices without a gap', async () => {
    const wishes = Array.from({ length: ORDERS_EACH }, () => TENANTS).flat();
    const answers = await Promise.all(wishes.map(place));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const orders = answers.map(({ body }) => body);

    for (const { id } of orders) expect(id).toMatch(/^order_[0-9A-Za-z]{11}$/);
    expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length);
    for (const tenant of TENANTS) {
      const own = orders.filter((order) => order.tenant === tenant);
      expect(new Set(own.map(({ reference }) => reference)).size).toBe(ORDERS_EACH);
      const year = new Date().getUTCFullYear();
      const expected = own.map((_, index) => `INV-${year}-${String(index + 1).padStart(6, '0')}`);
      expect(own.map(({ invoice }) => invoice).sort()).toEqual(expected);
    }
  });

  it('finds an order for its tenant, and for no other tenant', async () => {
    const { body: order } = await place('acme');
    expect(await find('acme', order.id)).toEqual({ status: 200, body: order });
    expect((await find('globex', order.id)).status).toBe(404);
    expect((await find('nobody', order.id)).status).toBe(400);
  });

  it('refuses an ID of another kind', async () => {
    const { body: order } = await place('acme');
    for (const id of [order.reference, order.id.replace('order', 'user'), `${order.id}x`]) {
      expect((await find('acme', id)).status).toBe(400);
    }
  });

  it('refuses an order without a customer', async () => {
    const headers = { 'x-tenant': 'acme' };
    expect((await send(`${url}/orders`, { headers, body: {} })).status).toBe(400);
  });

  it('answers as its README shows', () => answersAsShown(example, 'examples/multi-tenant/README.md'));

  it('names the variable of a port that is taken', () =>
    namesTakenPort((environment) => example.start(undefined, environment)));
});
