/** The part of OpenAPI's schemas that the service uses. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly nullable?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly default?: unknown;
  readonly example?: unknown;
}

type Check = (schema: Schema, value: unknown) => boolean;

const CHECKS: Readonly<Record<string, Check>> = {
  type: ({ type }, value) => isOfType(type!, value),
  enum: (schema, value) => schema.enum!.includes(value),
  pattern: ({ pattern }, value) => typeof value !== 'string' || new RegExp(pattern!).test(value),
  format: ({ format }, value) => format !== 'date-time' || !Number.isNaN(Date.parse(String(value))),
  minimum: ({ minimum }, value) => typeof value !== 'number' || value >= minimum!,
  maximum: ({ maximum }, value) => typeof value !== 'number' || value <= maximum!,
  minLength: ({ minLength }, value) => typeof value !== 'string' || value.length >= minLength!,
  maxLength: ({ maxLength }, value) => typeof value !== 'string' || value.length <= maxLength!,
  minItems: ({ minItems }, value) => !Array.isArray(value) || value.length >= minItems!,
  maxItems: ({ maxItems }, value) => !Array.isArray(value) || value.length <= maxItems!,
};

/** Says nothing of a value. */
const REMARKS = ['description', 'example', 'examples', 'default', 'title'];

const STRUCTURE = ['$ref', 'allOf', 'nullable', 'items', 'required', 'properties', 'additionalProperties'];

/**
 * Where a value is not what a schema says: one line each, with the place. Members that no schema names are wrong unless
 * it says otherwise: this API describes all of them.
 * @throws Error for a schema with a keyword that this does not know
 */
export function mistakesIn(value: unknown, schema: Schema, schemas: Readonly<Record<string, Schema>>): string[] {
  return mistakes(value, schema, schemas, '');
}

function mistakes(value: unknown, schema: Schema, schemas: Readonly<Record<string, Schema>>, place: string): string[] {
  const unknown = Object.keys(schema).filter((each) => !(each in CHECKS) && ![...REMARKS, ...STRUCTURE].includes(each));
  if (unknown.length > 0) throw new Error(`a schema with ${unknown.join(', ')} at ${place}`);
  if (value === null && schema.nullable === true) return [];
  if (schema.$ref !== undefined) return mistakes(value, schemas[schema.$ref.split('/').at(-1)!]!, schemas, place);
  const failed = Object.keys(CHECKS).filter((each) => each in schema && !CHECKS[each]!(schema, value));
  return [
    ...failed.map((each) => `${place || '/'}: ${JSON.stringify(value)} is not of ${each}`),
    ...(schema.allOf ?? []).flatMap((each) => mistakes(value, each, schemas, place)),
    ...(Array.isArray(value) && schema.items
      ? value.flatMap((each, index) => mistakes(each, schema.items!, schemas, `${place}/${index}`))
      : []),
    ...membersOf(value, schema, schemas, place),
  ];
}

function membersOf(value: unknown, schema: Schema, schemas: Readonly<Record<string, Schema>>, place: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || schema.allOf !== undefined) return [];
  const { required = [], properties = {}, additionalProperties = false } = schema;
  const missing = required.filter((name) => !(name in value)).map((name) => `${place}/${name}: is missing`);
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const own = properties[name] ?? additionalProperties;
    if (own === true) return [];
    return own === false ? [`${place}/${name}: is not described`] : mistakes(member, own, schemas, `${place}/${name}`);
  });
  return [...missing, ...wrong];
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
