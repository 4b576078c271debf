import 'reflect-metadata';
import { Column, getMetadataArgsStorage } from 'typeorm';
import { snowflakeColumnOptions, type GeneratedSnowflakeOptions } from './snowflake-column-options.js';
import { UnsupportedColumnError } from './snowflake-errors.js';
import type { SnowflakeProperty } from './snowflake-form.js';

/**
 * Declares a column, by default the primary key, that gets an ID on every insert: `save` of an instance, a plain object
 * or an array, cascades, `insert`, `insert().values()`, `upsert`. Always a `bigint` column that no update writes. An ID
 * that is set already stays; null and 0 count as not set.
 *
 *     @Entity() class Order { @GeneratedSnowflake() id!: string; }
 *
 * The ID is set before other subscribers' `beforeInsert`, except when the service has to wait for it. Ways of inserting
 * that call no subscribers, and statements that list their columns without this one, fail with
 * `SnowflakeNotAssignedError`. After an `upsert` that met an existing row the object carries an
 * ID that is not in the database: look the row up, and do not upsert that object again (TypeORM 0.3 then overwrites the
 * row's key).
 *
 * @throws UnsupportedColumnError for options that cannot work, and where another column decorator stands below this one
 */
export function GeneratedSnowflake(options: GeneratedSnowflakeOptions = {}): PropertyDecorator {
  return (target, property) => {
    const place = `${target.constructor.name}.${String(property)}`;
    refuseSecondColumn(target, property, place);
    const declared = declaredProperty(target, property, place);
    const isTypeLost = !Reflect.hasMetadata('design:type', target, property);
    Column(snowflakeColumnOptions(options, place, declared, isTypeLost))(target, property);
  };
}

/** TypeORM takes the first of two, which is the lower one, and says nothing. */
function refuseSecondColumn(target: object, property: string | symbol, place: string): void {
  const { columns } = getMetadataArgsStorage();
  if (!columns.some((each) => each.target === target.constructor && each.propertyName === property)) return;
  throw new UnsupportedColumnError(
    place,
    'another column decorator stands below it, and TypeORM would take that one. Take it away: @GeneratedSnowflake() makes the ' +
      'column, and the primary key, by itself',
  );
}

/** What the compiler noted about the property's type; undefined for unions, aliases of brands and `any`. */
function declaredProperty(target: object, property: string | symbol, place: string): SnowflakeProperty | undefined {
  const type: unknown = Reflect.getMetadata('design:type', target, property);
  if (type === String) return 'string';
  if (type === Number) return 'number';
  if (type === BigInt) return 'bigint';
  if (type === undefined || type === Object) return undefined;
  const name = typeof type === 'function' ? type.name : typeof type;
  throw new UnsupportedColumnError(place, `the property is a ${name}; it must be a string, a number or a bigint`);
}
