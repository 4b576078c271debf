/** The fields of a contract with `@default(snowflake())`, and the options of each. */

import { inspect } from 'node:util';
import { ConfigurationError } from '@raindrop/core';
import type { IdProperty } from '@raindrop/core/internal';
import { type KeyOptions, Keys } from '../ids.js';

/** The options of a field. Its type says in which form the application sees the IDs: `BigInt`, `BigIntNumber`, `String`. */
export type FieldOptions = Pick<KeyOptions, 'ids' | 'service' | 'code' | 'prefix'>;

/** The databases of Prisma 8 for which the extension can be. */
export type Target = (typeof TARGETS)[number];

const TARGETS = ['postgres', 'sqlite'] as const;

/** The options say which IDs the fields with `@default(snowflake())` get. */
export interface SnowflakesOptions<Of extends Target = Target> extends FieldOptions {
  /** The database of the contract. @defaultValue `postgres` */
  readonly target?: Of;
  /**
   * Options of single fields, which come before those of all fields:
   *
   *     { Order: { id: { code: 'order' }, publicId: { prefix: 'order' } } }
   */
  readonly models?: Readonly<Record<string, Readonly<Record<string, FieldOptions>>>>;
}

/** The generator of the contract, and the name of the function in the schema. */
export const GENERATOR = 'snowflake';

/**
 * The form of the IDs by the codec of a column, of which Prisma writes the name into the contract. On SQLite it is text alone.
 * Up to 8.0.0-rc.13 Prisma's driver throws `ERR_OUT_OF_RANGE` when it reads a `BigInt` above 2^53. A key of type
 * `BigIntNumber` is SQLite's rowid there: a row that raw SQL inserts without a key gets the largest one and 1, and no error.
 */
const FORMS: Readonly<Record<string, IdProperty>> = {
  'pg/int8@1': 'bigint',
  'pg/int8number@1': 'number',
  'pg/text@1': 'string',
  'sql/varchar@1': 'string',
  'sqlite/text@1': 'string',
};

/** The codecs of the columns that can have the default. */
export const CODECS: readonly string[] = Object.keys(FORMS);

/** What the contract says of a field to its generator. */
export interface FieldParams extends Record<string, unknown> {
  /** `Order.id`. */
  readonly field: string;
  readonly as: IdProperty;
}

/** @param codec of a column; Prisma refuses one that is not among {@link CODECS} */
export function paramsOf(model: string, field: string, codec = ''): FieldParams {
  return { field: `${model}.${field}`, as: FORMS[codec] ?? 'bigint' };
}

/** The part of a contract that is used. */
interface Contract {
  readonly execution?: {
    readonly mutations: {
      readonly defaults: readonly {
        readonly ref: { readonly namespace: string; readonly entry: string; readonly field: string };
        readonly onCreate?: { readonly id: string; readonly params?: Record<string, unknown> };
      }[];
    };
  };
}

/** A column that gets IDs. */
interface FilledColumn {
  readonly column: string;
  readonly keys: Keys;
}

/** The keys of all fields, by their names and by their tables. */
export class Fields {
  private readonly keys = new Map<string, Keys>();
  private readonly tables = new WeakMap<object, ReadonlyMap<string, readonly FilledColumn[]>>();
  private readonly shared: FieldOptions;
  private readonly models: NonNullable<SnowflakesOptions['models']>;

  /** @throws ConfigurationError for options that cannot work */
  constructor({ target = 'postgres', models = {}, ...shared }: SnowflakesOptions) {
    if (!TARGETS.includes(target)) {
      throw wrong('snowflakes(): target', target, "must be 'postgres' or 'sqlite'");
    }
    this.shared = shared;
    this.models = models;
    const { as } = shared as KeyOptions;
    if (as !== undefined) {
      throw wrong('snowflakes(): as', as, 'is not an option: the type of the field says the form');
    }
    // Options that are wrong for every field are refused at once, and not by the first insert.
    checkedKeys('snowflakes()', { ...shared, as: 'string' });
  }

  /** @throws ConfigurationError for options that this field cannot have */
  keysOf({ field, as }: FieldParams): Keys {
    const known = this.keys.get(field);
    if (known !== undefined) return known;
    const [model, name] = field.split('.') as [string, string];
    const own = Object.entries(this.models[model]?.[name] ?? {}).filter(([, value]) => value !== undefined);
    const keys = checkedKeys(field, { ...this.shared, ...Object.fromEntries(own), as });
    this.keys.set(field, keys);
    return keys;
  }

  /**
   * Returns the columns of a table that get IDs.
   * @throws ConfigurationError for options of a field that the contract does not have with this default
   */
  ofTable(contract: unknown, namespace: string | undefined, table: string): readonly FilledColumn[] {
    let tables = this.tables.get(contract as object);
    if (tables === undefined) this.tables.set(contract as object, (tables = this.tablesOf(contract as Contract)));
    return tables.get(placeOf(namespace, table)) ?? [];
  }

  private tablesOf({ execution }: Contract): ReadonlyMap<string, readonly FilledColumn[]> {
    const tables = new Map<string, FilledColumn[]>();
    const names: string[] = [];
    for (const { ref, onCreate } of execution?.mutations.defaults ?? []) {
      if (onCreate?.id !== GENERATOR) continue;
      const params = onCreate.params as FieldParams;
      const place = placeOf(ref.namespace, ref.entry);
      names.push(params.field);
      tables.set(place, [...(tables.get(place) ?? []), { column: ref.field, keys: this.keysOf(params) }]);
    }
    for (const [model, fields] of Object.entries(this.models)) {
      const unknown = Object.keys(fields).find((field) => !names.includes(`${model}.${field}`));
      if (unknown === undefined) continue;
      const message = `must be a field with @default(snowflake()): one of ${names.join(', ')}`;
      throw wrong(`models.${model}.${unknown}`, fields[unknown], message);
    }
    return tables;
  }
}

function placeOf(namespace: string | undefined, table: string): string {
  return JSON.stringify([namespace, table]);
}

function checkedKeys(place: string, options: KeyOptions): Keys {
  if (options.databaseDefault !== undefined) {
    const message = 'is no option of Prisma 8, whose fields have one default. Leave it out';
    throw wrong(`${place}: databaseDefault`, options.databaseDefault, message);
  }
  return new Keys(place, options);
}

export function wrong(option: string, given: unknown, message: string): ConfigurationError {
  return new ConfigurationError([{ option, given: inspect(given), message }]);
}
