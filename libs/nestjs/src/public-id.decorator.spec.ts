import { Exclude, Expose, instanceToInstance, instanceToPlain, plainToInstance } from 'class-transformer';
import { base62, ConfigurationError, typedId } from '@raindrop/core';
import { type PublicIdCodec, publicIds } from '@raindrop/node/public-ids';
import { bigIntsToStrings } from './http/big-int.interceptor.js';
import { PublicId } from './public-ids.js';

const ids = (purpose: string): PublicIdCodec =>
  publicIds({ keys: { k1: '000102030405060708090a0b0c0d0e0f' }, current: 'k1', purpose });
const orders = ids('order');
const customers = ids('customer');
const id = 30_077_675_337_940_996n;
const raw = id.toString();

class Item {
  @PublicId(customers)
  id: unknown = id;
}

class Order {
  @PublicId(orders)
  id: unknown = raw;

  @PublicId(customers)
  customerId: unknown = id;

  total = 12n;
  at = new Date(0);
  items: Item[] = [new Item()];

  @Exclude()
  note?: string;
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const order = (fields: Partial<Order>): Order => Object.assign(new Order(), fields);
const shown = {
  id: orders.encode(id),
  customerId: customers.encode(id),
  total: '12',
  at: '1970-01-01T00:00:00.000Z',
  items: [{ id: customers.encode(id) }],
};

describe('@PublicId()', () => {
  it('shows the text in JSON, in related entities too, and leaves the entity as it is', () => {
    const given = new Order();
    expect(json(given)).toEqual(shown);
    expect(json([{ given }])).toEqual([{ given: shown }]);
    expect(JSON.stringify(given)).not.toContain(raw);
    expect(Object.keys(JSON.parse(JSON.stringify(given)) as object)).toEqual(Object.keys(shown));
    expect(given.id).toBe(raw);
    expect(Object.keys(given)).not.toContain('toJSON');
    for (const key in given) expect(key).not.toBe('toJSON');
  });

  it('shows it behind BigIntInterceptor', () => {
    expect(json(bigIntsToStrings({ order: new Order(), more: 1n }))).toEqual({ order: shown, more: '1' });
  });

  it('shows it behind ClassSerializerInterceptor, with what else class-transformer is told', () => {
    const plain = instanceToPlain(order({ note: 'secret' }));
    expect(json(bigIntsToStrings(plain))).toEqual(shown);
    expect(Object.keys(plain)).not.toContain('note');
  });

  it('changes nothing where class-transformer makes instances', () => {
    expect(plainToInstance(Order, { id: raw }).id).toBe(raw);
    expect(instanceToInstance(order({ items: [] })).id).toBe(raw);
  });

  it('shows an ID that is exposed by another name', () => {
    class Renamed {
      @Expose({ name: 'order' })
      @PublicId(orders)
      id = raw;
    }
    expect(instanceToPlain(new Renamed())).toEqual({ order: shown.id });
  });

  it('shows a typed prefix before it', () => {
    class Typed {
      @PublicId(typedId('order', orders))
      id = raw;
    }
    expect(json(new Typed())).toEqual({ id: `order_${shown.id}` });
  });

  it.each<[string, unknown]>([
    ['decimal text', '7'],
    ['a bigint', 7n],
    ['a number', 7],
  ])('takes %s', (_, given) => {
    expect(json(order({ id: given }))).toMatchObject({ id: orders.encode(7n) });
    expect(instanceToPlain(order({ id: given }))).toMatchObject({ id: orders.encode(7n) });
  });

  it('leaves out what is not there, and shows null as null', () => {
    expect(json(order({ id: undefined, customerId: null }))).toEqual({ ...shown, id: undefined, customerId: null });
    const bare = new Order() as Partial<Order>;
    delete bare.id;
    expect(json(bare)).not.toHaveProperty('id');
  });

  it.each<[string, unknown]>([
    ['a typed ID', `order_${base62.encode(id)}`],
    ['a public ID', orders.encode(id)],
    ['a number that lost digits', Number(id)],
    ['a list', [raw]],
    ['a text', 'x'],
  ])('throws for %s, and shows nothing of it', (_, given) => {
    for (const act of [() => JSON.stringify(order({ id: given })), () => instanceToPlain(order({ id: given }))]) {
      expect(act).toThrow(ConfigurationError);
      expect(act).toThrow(/@PublicId\(\) Order\.id = .*must hold an ID as a decimal string, bigint or safe number/);
      expect(act).not.toThrow(raw.slice(0, 12));
    }
  });

  it("wraps the class's own toJSON, and that of the class above", () => {
    class Own {
      @PublicId(orders)
      id = raw;
      secret = 'x';

      toJSON(): object {
        return { id: Number(this.id), kind: 'own' };
      }
    }
    class Derived extends Own {
      @PublicId(customers)
      parent = id;

      // Another codec for the same property: the last one counts.
      @PublicId(customers)
      override id = raw;

      override toJSON(): object {
        return { ...super.toJSON(), parent: this.parent };
      }
    }
    class Inheriting extends Order {
      extra = 1n;
    }
    expect(json(new Own())).toEqual({ id: orders.encode(id), kind: 'own' });
    expect(json(new Derived())).toEqual({ id: customers.encode(id), kind: 'own', parent: customers.encode(id) });
    expect(json(new Inheriting())).toEqual({ ...shown, extra: '1' });
    expect(json(new Own())).toEqual({ id: orders.encode(id), kind: 'own' });
    expect(instanceToPlain(new Derived())).toMatchObject({ id: customers.encode(id), parent: customers.encode(id) });
  });

  it('keeps what a toJSON of the class leaves out, and a JSON that is no object', () => {
    class Silent {
      @PublicId(orders)
      id = raw;

      toJSON(): object {
        return { kind: 'silent' };
      }
    }
    class Text {
      @PublicId(orders)
      id = raw;

      toJSON(): string {
        return 'text';
      }
    }
    expect(json([new Silent(), new Text()])).toEqual([{ kind: 'silent' }, 'text']);
  });

  it('is told of a cycle by JSON.stringify, at once and not by a full stack', () => {
    class Node {
      @PublicId(orders)
      id = raw;
      others: Node[] = [];
      next?: Node;
    }
    const [one, two] = [new Node(), new Node()];
    one.next = two;
    two.next = one;
    for (let round = 0; round < 2; round++) expect(() => JSON.stringify(one)).toThrow(/circular structure/);
  });

  it('shows what an entity has become since it was shown', () => {
    const given = new Order();
    const texts = [json(given)];
    given.total = 13n;
    texts.push(json(given));
    given.id = 7n;
    given.items = [];
    texts.push(json(given));
    expect(texts).toEqual([
      shown,
      { ...shown, total: '13' },
      { ...shown, total: '13', id: orders.encode(7n), items: [] },
    ]);
  });

  it('knows nothing of a toJSON that is a field, nor of an ID under another name: as the documentation says', () => {
    class Field {
      @PublicId(orders)
      id = raw;
      toJSON = (): object => ({ id: this.id });
    }
    class Elsewhere {
      @PublicId(orders)
      id = raw;

      toJSON(): object {
        return { order: { id: this.id } };
      }
    }
    expect(json([new Field(), new Elsewhere()])).toEqual([{ id: raw }, { order: { id: raw } }]);
  });

  it.each([undefined, null, {}, 'base62'])('refuses %p in place of a codec when the class is made', (codec) => {
    expect(() => PublicId(codec as never)(Order.prototype, 'id')).toThrow(/@PublicId\(\) Order\.id.*import cycle/);
  });

  it('does without class-transformer', () => {
    jest.isolateModules(() => {
      jest.doMock('class-transformer', () => {
        throw Object.assign(new Error("Cannot find module 'class-transformer'"), { code: 'MODULE_NOT_FOUND' });
      });
      const fresh = jest.requireActual<typeof import('./public-ids.js')>('./public-ids.js');
      class Plain {
        @fresh.PublicId(orders)
        id = raw;
      }
      expect(json(new Plain())).toEqual({ id: shown.id });
      jest.dontMock('class-transformer');
    });
  });
});
