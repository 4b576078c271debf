import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';

/**
 * Answers with decimal texts in place of bigints, which `JSON.stringify` refuses (a 500 otherwise). Use it for one
 * controller with `@UseInterceptors(BigIntInterceptor)`, or everywhere as an `APP_INTERCEPTOR`. It changes HTTP answers
 * only, and each event of an `@Sse()` route. {@link bigIntsToStrings} says what is converted.
 *
 * With `ClassSerializerInterceptor` list this one first: interceptors see the answer in reverse order.
 */
@Injectable()
export class BigIntInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const answer = next.handle() as Observable<unknown>;
    return context.getType() === 'http' ? answer.pipe(map(bigIntsToStrings)) : answer;
  }
}

/** Values that lie deeper are left alone. `JSON.stringify` itself runs out of stack not much deeper. */
const MAX_DEPTH = 1_000;

/** Whether a `toJSON` runs that was called here: its result is converted afterwards, so nothing in it need be. */
let isInToJson = false;

/**
 * Returns the value with every bigint that `JSON.stringify` would meet as decimal text.
 *
 * Nothing is changed in place. An object without bigints is returned as it is, not copied; a copy keeps its class.
 * The `toJSON` of an object (an entity of an ORM, a decimal) is called as `JSON.stringify` calls it; if there are bigints
 * in its result, the copy has a `toJSON` that returns the converted result. In a `toJSON` of your own pass a copy,
 * `bigIntsToStrings({ ...this })`.
 *
 * Date, binary data, streams and promises are left alone, and so is a Map or a Set, which is `{}` in JSON anyway. A
 * cycle, and values more than 1,000 levels deep, are left for `JSON.stringify` to refuse.
 *
 * @throws what a `toJSON` throws
 */
export function bigIntsToStrings(value: unknown): unknown {
  return new Conversion(!isInToJson).convert(value, '');
}

/** As {@link bigIntsToStrings}, for the result of a `toJSON`: `JSON.stringify` itself calls those of the objects in it. */
export function bigIntsBesideToJson(value: object): object {
  return new Conversion(false).convert(value, '') as object;
}

class Conversion {
  /** The objects that the value stands in. */
  private readonly path = new Set<object>();

  constructor(private readonly callsToJson: boolean) {}

  /** @param key what `JSON.stringify` passes to a `toJSON`: a property, the index in a list, or '' */
  convert(value: unknown, key: string | number): unknown {
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null || isOpaque(value)) return value;
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON !== 'function') return this.within(value, convertContent);
    return this.callsToJson ? this.within(value, (object) => this.throughToJson(object as Writing, key)) : value;
  }

  private within(value: object, convert: (value: object, conversion: Conversion) => unknown): unknown {
    if (this.path.has(value) || this.path.size >= MAX_DEPTH) return value;
    this.path.add(value);
    const converted = convert(value, this);
    this.path.delete(value);
    return converted;
  }

  private throughToJson(object: Writing, key: string | number): unknown {
    const json = jsonOf(object, String(key));
    if (typeof json === 'bigint') return writtenAs(object, json.toString());
    if (typeof json !== 'object' || json === null) return object;
    // JSON.stringify does not call the toJSON of such a result.
    const converted = json === object ? convertContent(json, this) : this.within(json, convertContent);
    return converted === json ? object : writtenAs(object, converted);
  }
}

/** An object that says itself what it is in JSON. */
interface Writing {
  toJSON(key: string): unknown;
}

function jsonOf(object: Writing, key: string): unknown {
  isInToJson = true;
  try {
    return object.toJSON(key);
  } finally {
    isInToJson = false;
  }
}

/** A copy of the object for interceptors and templates that read its class or its fields; in JSON it is `json`. */
function writtenAs(object: object, json: unknown): object {
  return Object.create(Object.getPrototypeOf(object) as object | null, {
    ...Object.getOwnPropertyDescriptors(object),
    toJSON: { value: () => json, configurable: true },
  }) as object;
}

function convertContent(value: object, conversion: Conversion): object {
  return Array.isArray(value) ? convertArray(value, conversion) : convertObject(value, conversion);
}

function convertArray(list: readonly unknown[], conversion: Conversion): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const converted = conversion.convert(item, i);
    if (!Object.is(converted, item)) (copy ??= list.slice())[i] = converted;
  }
  return copy ?? list;
}

function convertObject(given: object, conversion: Conversion): object {
  const object = given as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const item = object[key];
    const converted = conversion.convert(item, key);
    // In a literal `__proto__` is the prototype, so that `@Exclude()` and its like still hold for the copy.
    if (!Object.is(converted, item))
      (copy ??= { __proto__: Object.getPrototypeOf(object) as unknown, ...object })[key] = converted;
  }
  return copy ?? object;
}

/** Walking through a stream, such as a response that a handler returns, would lead through its socket. */
function isOpaque(value: object): boolean {
  const { then, pipe } = value as Record<'then' | 'pipe', unknown>;
  return (
    value instanceof Date ||
    ArrayBuffer.isView(value) ||
    typeof then === 'function' ||
    typeof pipe === 'function' ||
    Symbol.asyncIterator in value
  );
}
