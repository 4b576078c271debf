import { loadClassTransformer } from '../http/load-class-transformer.js';

/**
 * Has class-transformer, where it is installed, leave a property as it was sent. Its conversion, implicit or by
 * `@Type(() => String)`, makes a text of a number that has lost digits already: nobody could tell it from an ID.
 */
export function keepAsSent(target: object, property: string | symbol): void {
  const { Type, Transform } = loadClassTransformer() ?? {};
  // A property that has a type of its own is not converted implicitly. This one has none.
  Type?.(() => undefined)(target, property);
  // Against the type of a decorator above.
  Transform?.(({ value, key, obj }) => undoConversion(value, (obj as Record<string, unknown>)[key]), {
    toClassOnly: true,
  })(target, property);
}

/** What was sent, when `value` is nothing but its text. */
function undoConversion(value: unknown, sent: unknown): unknown {
  if (Array.isArray(sent) && isIterable(value)) {
    const values = [...value];
    return values.some((each, index) => isConvertedFrom(each, sent[index])) ? sent : value;
  }
  return isConvertedFrom(value, sent) ? sent : value;
}

function isConvertedFrom(value: unknown, sent: unknown): boolean {
  // The same conversion as class-transformer's, whatever becomes of objects.
  // eslint-disable-next-line @typescript-eslint/no-base-to-string
  return typeof sent !== 'string' && sent !== undefined && value === String(sent);
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return Array.isArray(value) || value instanceof Set;
}
