/**
 * IDs for the public that tell nothing; needs `@noble/ciphers`.
 *
 * @module @raindrop/nestjs/public-ids
 */

import { ConfigurationError, type IdCodec, type IdLike, InvalidIdError, toId } from '@raindrop/core';
import { bigIntsToStrings } from './http/big-int.interceptor.js';
import { loadClassTransformer } from './http/load-class-transformer.js';

export * from '@raindrop/node/public-ids';

type Json = (this: object, key: string) => unknown;

/**
 * Shows an ID of an entity as the codec's text in JSON, and nowhere else: in code the property stays what it is, decimal
 * text, a bigint or a number.
 *
 *     @GeneratedSnowflake() @PublicId(orderIds) id!: string;
 *
 * The class gets a `toJSON`, around the one it has, and a `@Transform()` where class-transformer is installed, so that
 * `ClassSerializerInterceptor` shows the text as well. Other bigints become decimal text, because `BigIntInterceptor`
 * leaves alone what has a `toJSON`. Null and undefined stay. Anything else that is no ID, a typed ID among them, makes
 * `JSON.stringify` throw a ConfigurationError: nothing raw is shown in its place.
 *
 * A copy without the class (`{ ...order }`), `getRawMany()` and GraphQL resolvers know nothing of it.
 *
 * @throws ConfigurationError when `codec` is none, such as undefined in a circle of imports
 */
export function PublicId(codec: IdCodec): PropertyDecorator {
  return (target, property) => {
    const place = `${target.constructor.name}.${String(property)}`;
    requireCodec(codec, place);
    // Read from the object itself: what is inherited or of the class's own may have shown the ID already.
    const show = (object: object): unknown => showId((object as Record<string | symbol, unknown>)[property]);
    const showId = (value: unknown): unknown =>
      value === undefined || value === null ? value : codec.encode(requireId(value, place));
    const known = new LastCopies();
    const inherited = (target as { toJSON?: Json }).toJSON;

    const toJSON: Json = function (key) {
      const json = inherited === undefined ? this : inherited.call(this, key);
      if (typeof json !== 'object' || json === null || !Object.hasOwn(json, property)) return json;
      return known.orSame(this, bigIntsToStrings({ ...json, [property]: show(this) }) as object);
    };
    Object.defineProperty(target, 'toJSON', { value: toJSON, writable: true, configurable: true });
    transformToPlain(target, property, show);
  };
}

/**
 * Answers with the copy of before while nothing in it has changed: in a cycle `JSON.stringify` then meets the same object
 * again and says so at once, where ever new ones would end in a full stack, a quarter of a second later.
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
  const message = 'needs the codec that publicIds() makes; undefined often comes of files that import one another';
  throw new ConfigurationError([{ option: `@PublicId() ${place}`, given: `(${typeof codec})`, message }]);
}

/** The message does not show the value: it may be the ID in another form. */
function requireId(value: unknown, place: string): bigint {
  try {
    return toId(value as IdLike);
  } catch (error) {
    if (!(error instanceof InvalidIdError)) throw error;
    const message = 'to be shown as a public ID it must hold an ID as decimal text, a bigint or a safe number';
    throw new ConfigurationError([{ option: `@PublicId() ${place}`, given: `(${typeof value})`, message }]);
  }
}

/**
 * Has class-transformer, where it is installed, write `show(object)` for a property. `ClassSerializerInterceptor` makes
 * a plain object before there is JSON, and asks no `toJSON`.
 */
function transformToPlain(target: object, property: string | symbol, show: (object: object) => unknown): void {
  const { Transform } = loadClassTransformer() ?? {};
  Transform?.(({ obj }) => show(obj), { toPlainOnly: true })(target, property);
}
