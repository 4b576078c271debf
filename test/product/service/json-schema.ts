import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';

/** The part of OpenAPI's schemas that is looked at here. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly default?: unknown;
  readonly example?: unknown;
}

/** Answers with what is wrong with a value by a schema: one line each, with the place. */
export type MistakesIn = (value: unknown, schema: Schema) => string[];

/** For the schemas of an API that describes all members of its objects: others are mistakes. */
export function mistakesBy(schemas: Readonly<Record<string, Schema>>): MistakesIn {
  const ajv = new Ajv({ allErrors: true, strict: false });
  addFormats(ajv);
  ajv.addSchema(closed({ $id: 'api', components: { schemas } }));
  return (value, schema) => {
    const isValid = ajv.compile(closed({ ...schema, $id: undefined }));
    isValid(value);
    const mistakes: ErrorObject[] = isValid.errors ?? [];
    return mistakes.map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    );
  };
}

/** The same with objects that have no members but those that are named, null in JSON Schema's way, references into the API. */
function closed(given: object): object {
  return JSON.parse(JSON.stringify(given), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace(/^#/, 'api#');
    if (typeof value !== 'object' || value === null) return value;
    const { nullable, ...schema } = value as { nullable?: boolean; type?: unknown; properties?: object };
    const whole = schema.type === 'object' && schema.properties ? { additionalProperties: false, ...schema } : value;
    return nullable === true ? { anyOf: [schema, { type: 'null' }] } : whole;
  }) as object;
}
