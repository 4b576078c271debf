import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError } from '@raindrop/core';
import { type FieldOptions, modelsOf } from './models.js';

const SCHEMA = `
model Order {
  id    BigInt  @id @default(dbgenerated())
  bare  BigInt? @default(dbgenerated("next_id()"))
  full  BigInt? @default(dbgenerated("shop.next_id()"))
  other BigInt? @default(dbgenerated("raindrop_id()"))
  clock BigInt? @default(dbgenerated("now()"))
}
`;

/** The keys of the model, and the function of each one. */
function functionsOf(shared: FieldOptions, models = {}, activeProvider = 'postgresql'): Record<string, string | null> {
  const fields = ['id', 'bare', 'full', 'other', 'clock'].map((name) => ({ name, kind: 'scalar', type: 'BigInt' }));
  const client = {
    _runtimeDataModel: { models: { Order: { fields } } },
    _engineConfig: { inlineSchema: SCHEMA, activeProvider },
  };
  const found = modelsOf(client as never, shared, models).get('Order')!;
  return Object.fromEntries(
    [...found.keys].map(([name, { databaseDefault: of }]) => [
      name,
      of === undefined ? null : [of.schema, of.name].filter((part) => part !== undefined).join('.'),
    ]),
  );
}

describe('The fields of a model of Prisma that are keys', () => {
  it('are those with the function that the option names, as the option spells it', () => {
    const usual = { id: null, other: 'raindrop_id' };
    expect(functionsOf({})).toEqual(usual);
    expect(functionsOf({ databaseDefault: 'shop.next_id' })).toEqual({ ...usual, full: 'shop.next_id' });
    expect(functionsOf({ databaseDefault: 'next_id' })).toEqual({ ...usual, bare: 'next_id' });
  });

  it('have the option of all fields where their own is undefined', () => {
    const options = { databaseDefault: 'shop.next_id' };
    expect(functionsOf(options, { Order: ['id'] })).toEqual({ id: 'shop.next_id' });
    expect(functionsOf(options, { Order: { id: { databaseDefault: undefined } } })).toEqual({ id: 'shop.next_id' });
    expect(functionsOf(options, { Order: { id: { databaseDefault: false } } })).toEqual({ id: null });
  });

  it.each([[{}], [{ Order: ['id'] }], [{ Order: { id: { databaseDefault: undefined } } }]])(
    'are refused on SQLite by the option of all fields, with the models %j',
    (models) => {
      const refusal = (): unknown => functionsOf({ databaseDefault: true }, models, 'sqlite');
      expect(caught(ConfigurationError, refusal).message).toMatch(
        /databaseDefault = raindrop_id\(\): is for PostgreSQL/,
      );
    },
  );
});
