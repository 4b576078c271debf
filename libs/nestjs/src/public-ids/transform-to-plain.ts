import { loadClassTransformer } from '../http/load-class-transformer.js';

/**
 * Has class-transformer, where it is installed, write `show(object)` for a property. `ClassSerializerInterceptor` makes
 * a plain object before there is JSON, and asks no `toJSON`.
 */
export function transformToPlain(target: object, property: string | symbol, show: (object: object) => unknown): void {
  const { Transform } = loadClassTransformer() ?? {};
  Transform?.(({ obj }) => show(obj), { toPlainOnly: true })(target, property);
}
