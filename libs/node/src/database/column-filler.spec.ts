import { readFiller } from './column-filler.js';

describe('readFiller()', () => {
  it.each([
    [`nextval('orders_id_seq'::regclass)`, true],
    ['nextval(`shop`.`orders_id_seq`)', true],
    [`(nextval('orders_id_seq'::regclass) * 2)`, true],
    ['order_nextval()', false],
    [`order_nextval('a'::text)`, false],
    ['"my nextval"()', false],
    ['shop.nextval()', false],
    ['raindrop_id()', false],
    ['5', false],
  ])('says of the default %s whether the database counts: %s', (detail, isCounter) => {
    expect(readFiller(`default ${detail}`)).toEqual({ kind: 'default', detail, isCounter });
  });

  it.each([
    ['identity ', 'identity', true],
    ['auto_increment bigint(20)', 'auto_increment', true],
    ['rowid ', 'rowid', true],
    ['trigger fill_nextval(x', 'trigger', false],
  ])('reads %j', (answer, kind, isCounter) => {
    expect(readFiller(Buffer.from(answer))).toMatchObject({ kind, isCounter });
  });

  it.each([null, undefined, ''])('reads %s as nothing', (answer) => {
    expect(readFiller(answer)).toBeUndefined();
  });
});
