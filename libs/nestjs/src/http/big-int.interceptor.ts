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

/**
 * Returns the value with every bigint that `JSON.stringify` would meet as decimal text.
 *
 * Nothing is changed in place. An object without bigints is returned as it is, not copied; a copy keeps its class.
 * Objects with a `toJSON` (Date, Buffer, decimals), binary data, streams and promises are left alone, and so is a Map
 * or a Set, which is `{}` in JSON anyway. A cycle, and values more than 1,000 levels deep, are left for
 * `JSON.stringify` to refuse.
 */
export function bigIntsToStrings(value: unknown): unknown {
  return convert(value, new Set());
}

/** @param path the objects that `value` stands in */
function convert(value: unknown, path: Set<object>): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (path.has(value) || path.size === MAX_DEPTH || isOpaque(value)) return value;
  path.add(value);
  const converted = Array.isArray(value) ? convertArray(value, path) : convertObject(value, path);
  path.delete(value);
  return converted;
}

function convertArray(list: readonly unknown[], path: Set<object>): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const converted = convert(item, path);
    if (!Object.is(converted, item)) (copy ??= list.slice())[i] = converted;
  }
  return copy ?? list;
}

function convertObject(given: object, path: Set<object>): object {
  const object = given as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const item = object[key];
    const converted = convert(item, path);
    // In a literal `__proto__` is the prototype, so that `@Exclude()` and its like still hold for the copy.
    if (!Object.is(converted, item))
      (copy ??= { __proto__: Object.getPrototypeOf(object) as unknown, ...object })[key] = converted;
  }
  return copy ?? object;
}

/** Walking through a stream, such as a response that a handler returns, would lead through its socket. */
function isOpaque(value: object): boolean {
  const { toJSON, then, pipe } = value as Record<'toJSON' | 'then' | 'pipe', unknown>;
  return (
    typeof toJSON === 'function' ||
    typeof then === 'function' ||
    typeof pipe === 'function' ||
    ArrayBuffer.isView(value) ||
    Symbol.asyncIterator in value
  );
}
