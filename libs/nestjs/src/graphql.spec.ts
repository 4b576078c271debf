import { buildSchema, graphql, type GraphQLScalarType, parseValue, valueFromAST } from 'graphql';
import { codecs, ConfigurationError, typedId } from '@raindrop/core';
import { SnowflakeScalar, snowflakeScalar, type SnowflakeScalarOptions } from './graphql.js';

const id = 30_077_675_337_940_996n;
const order = typedId('order').encode(id);
const largest = 2n ** 63n - 1n;

/** What a literal in a query comes to. */
function literal(scalar: GraphQLScalarType, text: string): unknown {
  return scalar.parseLiteral(parseValue(text), {});
}

describe('snowflakeScalar', () => {
  it.each<[SnowflakeScalarOptions, unknown, unknown]>([
    [{}, `${id}`, `${id}`],
    [{}, `${largest}`, `${largest}`],
    [{}, id, `${id}`],
    [{ as: 'bigint' }, `${id}`, id],
    [{ as: 'text' }, `${id}`, `${id}`],
    [{ codec: 'base62' }, codecs.base62.encode(id), `${id}`],
    [{ codec: 'base62', as: 'text' }, codecs.base62.encode(id), codecs.base62.encode(id)],
    [{ prefix: 'order' }, order, order],
    [{ prefix: 'order', as: 'bigint' }, order, id],
    [{ prefix: 'order', as: 'decimal' }, order, `${id}`],
  ])('with %p a resolver gets of %p %p', (options, given, expected) => {
    expect(snowflakeScalar(options).parseValue(given)).toBe(expected);
  });

  it.each<unknown>([
    ...[1, 0, 1.5, Number(id), NaN, true, null, {}, ['1'], '', ' 1', '01', '1e3', '-1', '+1', 'abc', -1n],
    ...['9223372036854775808', 2n ** 63n, order],
  ])('refuses %p in variables, and says what is legal', (given) => {
    expect(() => SnowflakeScalar.parseValue(given)).toThrow(/^Snowflake must be 1 to 19 characters of 0-9/);
  });

  it('takes texts and whole numbers that stand in the query, where no digit is lost', () => {
    expect(literal(SnowflakeScalar, `"${largest}"`)).toBe(`${largest}`);
    expect(literal(SnowflakeScalar, `${largest}`)).toBe(`${largest}`);
    expect(literal(snowflakeScalar({ as: 'bigint' }), '0')).toBe(0n);
    for (const text of [`${largest + 1n}`, '-1', '1.0', '1e3', 'true', 'null', 'ID', '[1]', '{a: 1}', '""']) {
      expect(() => literal(SnowflakeScalar, text)).toThrow(/^Snowflake must be/);
    }
    for (const options of [{ prefix: 'order' }, { codec: 'hex' }] as const) {
      expect(() => literal(snowflakeScalar(options), '12')).toThrow(/must be/);
    }
    expect(valueFromAST(parseValue(`"${id}"`), SnowflakeScalar)).toBe(`${id}`);
  });

  it.each<[SnowflakeScalarOptions, unknown, string]>([
    [{}, id, `${id}`],
    [{}, `${largest}`, `${largest}`],
    [{ prefix: 'order' }, order, order],
    [{ prefix: 'order' }, id, order],
    [{ prefix: 'order', as: 'decimal' }, `${id}`, order],
    [{ codec: 'base62' }, `${id}`, codecs.base62.encode(id)],
    [{ codec: 'base62', as: 'text' }, codecs.base62.encode(id), codecs.base62.encode(id)],
  ])('with %p answers %p as %p', (options, given, expected) => {
    expect(snowflakeScalar(options).serialize(given)).toBe(expected);
  });

  it.each<unknown>([1, Number(id), 'abc', '01', '', -1n, 2n ** 63n, {}, null, new Date(0), true])(
    'does not answer %p',
    (given) => {
      expect(() => SnowflakeScalar.serialize(given)).toThrow('Snowflake cannot be serialized from');
    },
  );

  it.each<SnowflakeScalarOptions>([
    { name: 'order id' },
    { name: '__Id' },
    { prefix: 'Order!' },
    { codec: 'base7' as never },
    { as: 'number' as never },
    { description: 5 as never },
    { naem: 'Id' } as never,
  ])('refuses the options %p', (options) => {
    expect(() => snowflakeScalar(options)).toThrow(ConfigurationError);
  });

  it('has the name and the description that it is given', () => {
    const { name, description } = snowflakeScalar({ name: 'OrderId', prefix: 'order', description: 'An order.' });
    expect([name, description]).toEqual(['OrderId', 'An order.']);
    expect(SnowflakeScalar.description).toContain('0-9');
  });
});

describe('In a schema', () => {
  const schema = buildSchema('scalar Snowflake type Query { echo(id: Snowflake!): Snowflake! }');
  Object.assign(schema.getType('Snowflake')!, SnowflakeScalar);
  const rootValue = { echo: ({ id: given }: { id: unknown }) => given };

  it.each([
    [`{ echo(id: "${id}") }`, undefined],
    [`{ echo(id: ${id}) }`, undefined],
    ['query($id: Snowflake!) { echo(id: $id) }', { id: `${id}` }],
  ])('%s is answered', async (source, variableValues) => {
    expect(await graphql({ schema, source, rootValue, variableValues })).toEqual({ data: { echo: `${id}` } });
  });

  it.each([
    ['{ echo(id: 1.0) }', undefined],
    ['query($id: Snowflake!) { echo(id: $id) }', { id: Number(id) }],
    ['query($id: Snowflake!) { echo(id: $id) }', { id: 1 }],
  ])('%s with %p is refused with a code', async (source, variableValues) => {
    const { errors } = await graphql({ schema, source, rootValue, variableValues });
    expect(errors!.map((each) => [each.message, each.extensions])).toEqual([
      [expect.stringContaining('Snowflake must be 1 to 19 characters') as string, { code: 'INVALID_ID' }],
    ]);
  });
});
