import { pathsOf, rows } from './entity-path.js';
import { plainEntities } from './plain-entities.js';

/** `save`, and what else works on whole objects. */
export const savePaths = pathsOf(plainEntities, {
  '`save` of an instance, its key in an abstract base': async ({ manager, statements, entities: { Note } }) => {
    const note = await manager.save(new Note());
    expect(statements.count('INSERT')).toBe(1);
    return [rows(Note, [note])];
  },
  '`save` of a plain object': async ({ manager, entities: { Note } }) => [
    rows(Note, [await manager.save(Note, { title: 'plain' })]),
  ],
  '`save` of an array of both, in order': async ({ manager, form, entities: { Note } }) => {
    const notes = await manager.save(Note, [{ title: 'a' }, manager.create(Note, { title: 'b' }), { title: 'c' }]);
    const ids = notes.map(({ id }) => BigInt(form.digits(id)));
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)));
    return [rows(Note, notes)];
  },
  '`save` with `chunk`': async ({ manager, statements, entities: { Note } }) => {
    const notes = await manager.save(
      Note,
      Array.from({ length: 25 }, () => ({ title: 'chunk' })),
      { chunk: 10 },
    );
    expect(statements.count('INSERT')).toBe(3);
    return [rows(Note, notes)];
  },
  '`save` of an object whose ID is null': async ({ manager, entities: { Note } }) => [
    rows(Note, [await manager.save(Note, { id: null as never })]),
  ],
  '`save` of a new object that has its ID': async ({ manager, form, entities: { Note } }) => {
    const id = form.fromDigits('90071992547409');
    const note = await manager.save(Note, { id, title: 'kept' });
    expect(note.id).toBe(id);
    expect(await manager.delete(Note, { id })).toMatchObject({ affected: 1 });
    return [];
  },
  '`save` of a found object, changed': async ({ manager, statements, entities: { Note } }) => {
    const { id } = await manager.save(new Note());
    const found = await manager.findOneByOrFail(Note, { id });
    await statements.only(() => manager.save(Object.assign(found, { title: 'changed' })));
    expect((await manager.findOneByOrFail(Note, { id })).title).toBe('changed');
    return [rows(Note, [found])];
  },
  '`save` of new and found objects together': async ({ manager, statements, entities: { Note } }) => {
    const found = await manager.save(Note, [{ title: 'a' }, { title: 'b' }]);
    const changed = found.map(({ id }) => ({ id, title: 'changed' }));
    const saved = await statements.only(() => manager.save(Note, [...changed, { title: 'new' }]));
    expect(await manager.countBy(Note, { title: 'changed', id: found[1]!.id })).toBe(1);
    return [rows(Note, saved)];
  },
  '`preload`, `update`, `increment`': async ({ manager, statements, entities: { Tag } }) => {
    const tag = await manager.save(Tag, { name: 'preload', uses: 1 });
    const other = await manager.save(Tag, { name: 'other', uses: 1 });
    const preloaded = await statements.only(() => manager.preload(Tag, { id: tag.id, uses: 5 }));
    expect(preloaded).toEqual({ ...tag, uses: 5 });
    await manager.update(Tag, { id: tag.id }, { uses: 2 });
    await manager.increment(Tag, { id: tag.id }, 'uses', 1);
    expect((await manager.findOneByOrFail(Tag, { id: tag.id })).uses).toBe(3);
    expect((await manager.findOneByOrFail(Tag, { id: other.id })).uses).toBe(1);
    return [rows(Tag, [tag, other])];
  },
  '`remove`, `delete` by object and by condition': async ({ manager, statements, entities: { Note } }) => {
    const [kept, ...gone] = await manager.save(Note, [{}, {}, {}, {}]);
    const ids = gone.map(({ id }) => id);
    await manager.remove(await manager.findOneByOrFail(Note, { id: ids[0]! }));
    await statements.only(() => manager.delete(Note, { id: ids[1]! }));
    await manager.createQueryBuilder().delete().from(Note).whereInIds([ids[2]]).execute();
    return [rows(Note, [kept!])];
  },
  '`delete` by the bare ID': async ({ manager, statements, entities: { Note } }) => {
    const [kept, first, second, third] = await manager.save(Note, [{}, {}, {}, {}]);
    const ids = [first!, second!, third!].map(({ id }) => id as string);
    await statements.only(() => manager.delete(Note, ids[0]!));
    expect(await manager.delete(Note, ids.slice(1))).toMatchObject({ affected: 2 });
    return [rows(Note, [kept!])];
  },
  '`softRemove`, `softDelete`, `recover`, `restore`': async ({ manager, statements, entities: { Draft } }) => {
    const [kept, first, second] = await manager.save([new Draft(), new Draft(), new Draft()]);
    await manager.softRemove(first!);
    await statements.only(() => manager.softDelete(Draft, { id: second!.id }));
    expect((await manager.find(Draft)).map(({ id }) => id)).toEqual([kept!.id]);
    await manager.recover(first!);
    await manager.restore(Draft, { id: second!.id });
    return [rows(Draft, [kept!, first!, second!])];
  },
  'active record': async ({ dataSource, statements, entities: { Note } }) => {
    Note.useDataSource(dataSource);
    const note = await statements.only(() => Note.create({ title: 'active' }).save());
    await note.reload();
    return [rows(Note, [note])];
  },
  'an `EntitySchema`': async ({ manager, entities: { Label } }) => {
    const label = await manager.save(Label, { text: 'saved' });
    const byName = await manager.getRepository('label').save({ text: 'by name' });
    const inserted = { text: 'inserted' };
    await manager.insert(Label, inserted);
    return [rows(Label, [label, byName, inserted])];
  },
  'a composite key, one half generated': async ({ manager, entities: { InvoiceLine } }) => {
    const lines = await manager.save(InvoiceLine, [{ invoice: 1 }, { invoice: 1 }]);
    const inserted = { invoice: 1 };
    await manager.insert(InvoiceLine, inserted);
    return [rows(InvoiceLine, [...lines, inserted], 'line')];
  },
  'a composite key, both halves generated': async ({ manager, statements, entities: { Pair } }) => {
    const pairs = await statements.only(() => manager.save(Pair, [{}, {}]));
    const inserted = {} as InstanceType<typeof Pair>;
    await manager.insert(Pair, inserted);
    const { first, second } = pairs[0]!;
    expect(await manager.findOneBy(Pair, { first, second })).toEqual(pairs[0]);
    await manager.remove(await manager.findOneByOrFail(Pair, { first, second }));
    return [rows(Pair, [pairs[1]!, inserted], 'first')];
  },
  'an embedded key': async ({ manager, entities: { Parcel } }) => {
    const parcels = await manager.save(Parcel, [{}, { key: {} }]);
    const inserted = {} as InstanceType<typeof Parcel>;
    await manager.insert(Parcel, inserted);
    return [rows(Parcel, [...parcels, inserted], 'key.id')];
  },
  'an embedded column that is no key': async ({ manager, statements, entities: { Shipment } }) => {
    const shipments = await statements.only(() => manager.save(Shipment, [{}, { reference: {} }]));
    const { number } = shipments[0]!.reference;
    expect(await manager.findOneBy(Shipment, { reference: { number } })).toEqual(shipments[0]);
    return [rows(Shipment, shipments)];
  },
  'a column beside an auto-increment key': async ({ manager, statements, entities: { Ticket } }) => {
    const tickets = await statements.only(() => manager.save(Ticket, [{}, {}]));
    const inserted = {} as InstanceType<typeof Ticket>;
    await manager.insert(Ticket, inserted);
    expect(await manager.findOneBy(Ticket, { id: tickets[1]!.id })).toEqual(tickets[1]);
    return [rows(Ticket, [...tickets, inserted], 'number')];
  },
  'single-table inheritance': async ({
    manager,
    form,
    statements,
    entities: { Payment, CardPayment, CashPayment },
  }) => {
    const [card, cash, other] = await statements.only(() =>
      Promise.all([
        manager.save(new CardPayment()),
        manager.save(CashPayment, { change: 1 }),
        manager.save(Payment, {}),
      ]),
    );
    const inserted = {} as InstanceType<typeof CardPayment>;
    await manager.insert(CardPayment, inserted);
    expect([card, inserted].filter(({ authorisation }) => !form.isForm(authorisation))).toEqual([]);
    expect(await manager.findOneBy(CardPayment, { authorisation: card.authorisation })).toEqual(card);
    expect(Object.keys({ ...cash, ...other })).not.toContain('authorisation');
    return [rows(Payment, [cash, other]), rows(CardPayment, [card, inserted])];
  },
});
