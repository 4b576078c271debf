/**
 * IDs for the public that tell nothing; needs `@noble/ciphers`.
 *
 * @module @raindrop/nestjs/public-ids
 */

import { ConfigurationError, type IdCodec, type IdLike, InvalidIdError, toId } from '@raindrop/core';
import { bigIntsBesideToJson } from './http/big-int.interceptor.js';
import { refuseStandardDecorator } from './http/legacy-decorators.js';
import { loadClassTransformer } from './http/load-class-transformer.js';

export * from '@raindrop/node/public-ids';

type Json = (this: object, key: string) => unknown;

/**
 * Shows an ID of an entity as the codec's text in JSON. In code the property stays what it is: decimal text, a bigint
 * or a number.
 *
 *     @GeneratedSnowflake() @PublicId(orderIds) id!: string;
 *
 * The class gets a `toJSON`, which calls the one it has, and a `@Transform()` where class-transformer is installed, so
 * that `ClassSerializerInterceptor` shows the text as well. Its other bigints become decimal text, also without
 * `BigIntInterceptor`. Null and undefined stay. Any other value that is no ID, such as a typed ID, makes
 * `JSON.stringify` throw a ConfigurationError, and the raw value is not shown.
 *
 * A copy without the class (`{ ...order }`), `getRawMany()` and GraphQL resolvers show the raw ID.
 *
 * @throws ConfigurationError when `codec` is no codec, for example undefined because files import one another, and where
 * the compiler's option `experimentalDecorators` is not set
 */
export function PublicId(codec: IdCodec): PropertyDecorator {
  return (target, property) => {
    refuseStandardDecorator('@PublicId()', target, property);
    const place = `${target.constructor.name}.${String(property)}`;
    requireCodec(codec, place);
    // Read from the object itself: an inherited or own `toJSON` may have replaced the ID already.
    const show = (object: object): unknown => showId((object as Record<string | symbol, unknown>)[property]);
    const showId = (value: unknown): unknown =>
      value === undefined || value === null ? value : codec.encode(requireId(value, place));
    const known = new LastCopies();
    const inherited = (target as { toJSON?: Json }).toJSON;

    const toJSON: Json = function (key) {
      const json = inherited === undefined ? this : inherited.call(this, key);
      if (typeof json !== 'object' || json === null || !Object.hasOwn(json, property)) return json;
      return known.orSame(this, bigIntsBesideToJson({ ...json, [property]: show(this) }));
    };
    Object.defineProperty(target, 'toJSON', { value: toJSON, writable: true, configurable: true });
    transformToPlain(target, property, show);
  };
}

/**
 * Keeps the last copy of each object, and returns it again while nothing in it has changed. In a cycle `JSON.stringify`
 * then meets the same copy again, and says so at once. With a new copy each time it would run until the stack is full,
 * a quarter of a second later.
 */
class LastCopies {
  private readonly byObject = new WeakMap<object, Record<string, unknown>>();

  orSame(object: object, copy: object): object {
    const fresh = copy as Record<string, unknown>;
    const last = this.byObject.get(object);
    const keys = Object.keys(fresh);
    const isSame =
      last !== undefined &&
      Object.keys(last).length === keys.length &&
      keys.every((key) => Object.hasOwn(last, key) && Object.is(last[key], fresh[key]));
    if (isSame) return last;
    this.byObject.set(object, fresh);
    return fresh;
  }
}

function requireCodec(codec: IdCodec | undefined, place: string): void {
  if (typeof codec?.encode === 'function') return;
  const message = 'requires the codec from publicIds(); undefined often comes from an import cycle';
  throw new ConfigurationError([{ option: `@PublicId() ${place}`, given: `(${typeof codec})`, message }]);
}

/** The message does not show the value: it may be the ID in another form. */
function requireId(value: unknown, place: string): bigint {
  try {
    return toId(value as IdLike);
  } catch (error) {
    if (!(error instanceof InvalidIdError)) throw error;
    const message = 'must hold an ID as a decimal string, bigint or safe number, to be shown as a public ID';
    throw new ConfigurationError([{ option: `@PublicId() ${place}`, given: `(${typeof value})`, message }]);
  }
}

/**
 * Makes class-transformer, where it is installed, write `show(object)` for a property. `ClassSerializerInterceptor`
 * makes a plain object before there is JSON, and does not call `toJSON`.
 */
function transformToPlain(target: object, property: string | symbol, show: (object: object) => unknown): void {
  const { Transform } = loadClassTransformer() ?? {};
  Transform?.(({ obj }) => show(obj), { toPlainOnly: true })(target, property);
}
