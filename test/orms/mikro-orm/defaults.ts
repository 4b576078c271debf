/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return -- the types of the two versions differ */
/** Keys with `databaseDefault`: what the schema generator makes of them, who fills their rows, and what the check says. */
import { checkPrecision, type KeyOptions } from '@raindrop/orm/mikro-orm';
import { connect, defineShop, openShop, type, version } from './shop.js';

const found: Record<string, unknown> = {};
let last = 2n ** 60n;

/** The ORM over orders and items whose keys have these options, and what its schema generator would change. */
async function changes(
  options: KeyOptions,
  use?: (orm: any, schema: any, Order: any) => Promise<unknown>,
  more: object = {},
): Promise<unknown> {
  const { entities, Order } = defineShop(options);
  const orm = await connect(entities, false, more);
  const schema = version === 6 ? orm.getSchemaGenerator() : orm.schema;
  try {
    const sql: string = await schema.getUpdateSchemaSQL({ wrap: false, dropTables: false });
    return (
      (await use?.(orm, schema, version === 6 ? 'Order' : Order)) ??
      sql.split('\n').filter((line) => line.trim() !== '')
    );
  } finally {
    await orm.close(true);
  }
}

const codeOf = ({ errorCode, message }: { errorCode?: string; message: string }): string =>
  `${errorCode}: ${message.replaceAll(/\s+/g, ' ')}`;

if (type !== 'postgres') {
  found['refused'] = await changes({ databaseDefault: true }).catch(codeOf);
} else {
  const shop = await openShop('text');
  const ids = { nextId: () => last++, nextString: () => String(last++) };
  await shop.orm.em.fork().insert(shop.Order, { code: 'kept', customer: 'a' });
  await shop.close();
  const update = (_: unknown, schema: any): Promise<void> =>
    version === 6 ? schema.updateSchema({ dropTables: false }) : schema.update({ dropTables: false });
  const declared = { ids, databaseDefault: true };
  found['an existing key'] = await changes(declared);
  await changes(declared, update);
  found['afterwards'] = await changes(declared);
  found['check'] = await changes(declared, async (orm) => (await checkPrecision(orm)).warnings);
  found['check of a default that is not declared'] = await changes(
    { ids },
    async (orm) => (await checkPrecision(orm)).warnings,
  );
  const sent: string[] = [];
  const insert = async (orm: any, _: unknown, Order: any): Promise<void> => {
    sent.length = 0;
    const order = orm.em.fork().create(Order, { code: 'flushed', customer: 'a' });
    await orm.em.fork().persist(order).flush();
    await orm.em.fork().insertMany(Order, [{ code: 'many', customer: 'a' }]);
  };
  await changes(declared, insert, { debug: ['query'], colors: false, logger: (text: string) => void sent.push(text) });
  found['statements'] = sent.flatMap((text) => /(insert into|select) .*? (?=\()/.exec(text)?.[0].trim() ?? []);
  found['raw rows'] = await changes(declared, async (orm) => {
    await orm.em.getConnection().execute(`insert into orders (code, customer) values ('raw', 'a')`);
    const rows: { id: string; code: string }[] = await orm.em
      .getConnection()
      .execute('select cast(id as text) as id, code from orders order by code');
    return rows.map(({ id, code }) => [code, id.length > 10 ? 'of the process' : 'of the database']);
  });
  found['by the driver'] = await changes(declared, async (orm, _, Order) => {
    const driver = orm.em.fork().getDriver();
    const outcome = (work: () => unknown): Promise<string> =>
      Promise.resolve()
        .then(work)
        .then(() => 'inserted', codeOf);
    const build = (): any => driver.createQueryBuilder(Order);
    const [one, two] = ['one', 'two'].map((code) => ({ code, customer: 'a' }));
    return [
      await outcome(() => driver.nativeInsert(Order, one)),
      await outcome(() => driver.nativeInsertMany(Order, [{ id: '5', ...one }, two])),
      await outcome(() => driver.nativeUpdate(Order, { code: 'one' }, one, { upsert: true })),
      await outcome(() => driver.nativeUpdateMany(Order, [{ code: 'one' }], [one], { upsert: true })),
      await outcome(() => build().insert(one).execute('run')),
      await outcome(() =>
        build()
          .clone()
          .insert([{ id: '5', ...one }, two])
          .execute('run'),
      ),
      await outcome(() => driver.nativeInsertMany(Order, [{ id: '5', ...one }])),
      await outcome(() => driver.nativeUpdate(Order, { id: '6' }, { id: '6', ...two }, { upsert: true })),
      await outcome(() => build().insert({ id: '7', code: 'three', customer: 'a' }).execute('run')),
    ];
  });
  found['without it again'] = await changes({ ids });
  for (const name of ['shop.next_id', 'Shop.nextId', 'order.user']) {
    const named = { ids, databaseDefault: name };
    await changes(named, update);
    found[name] = await changes(named);
  }
  found['no name'] = await Promise.resolve()
    .then(() => changes({ databaseDefault: 'next_id()' }))
    .catch(codeOf);
}
console.log(JSON.stringify(found));
