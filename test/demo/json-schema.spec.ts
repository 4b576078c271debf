import { mistakesIn, type Schema } from './json-schema.js';

const schemas: Record<string, Schema> = { Id: { type: 'string', pattern: '^\\d+$' } };
const schema: Schema = {
  type: 'object',
  required: ['id', 'sizes'],
  properties: {
    id: { $ref: '#/components/schemas/Id' },
    sizes: { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0, maximum: 9 } },
    end: { type: 'string', format: 'date-time', nullable: true },
    kind: { allOf: [{ $ref: '#/components/schemas/Id' }] },
    more: { type: 'object', additionalProperties: { type: 'boolean' } },
  },
};

describe('mistakesIn', () => {
  it('finds none in what is right', () => {
    const value = { id: '7', sizes: [0, 9], end: null, kind: '8', more: { a: true } };
    expect(mistakesIn(value, schema, schemas)).toEqual([]);
  });

  it.each<[unknown, string[]]>([
    [[], ['/: [] is not of type']],
    [{}, ['/id: is missing', '/sizes: is missing']],
    [{ id: 7, sizes: [] }, ['/id: 7 is not of type', '/sizes: [] is not of minItems']],
    [
      { id: 'x', sizes: [10, 1.5] },
      ['/id: "x" is not of pattern', '/sizes/0: 10 is not of maximum', '/sizes/1: 1.5 is'],
    ],
    [{ id: '7', sizes: [1], end: 'soon', colour: 1 }, ['/end: "soon" is not of format', '/colour: is not described']],
    [{ id: '7', sizes: [1], kind: 'x', more: { a: 1 } }, ['/kind: "x" is not of pattern', '/more/a: 1 is not of type']],
  ])('finds what is wrong in %j', (value, found) => {
    expect(mistakesIn(value, schema, schemas)).toEqual(found.map((each) => expect.stringContaining(each) as string));
  });

  it('refuses what it does not know', () => {
    expect(() => mistakesIn(1, { oneOf: [] } as Schema, {})).toThrow('a schema with oneOf');
  });
});
