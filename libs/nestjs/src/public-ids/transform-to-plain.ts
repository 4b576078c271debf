/** The part of class-transformer that is needed here. */
interface ClassTransformer {
  readonly Transform: (
    transform: (of: { obj: object }) => unknown,
    options: { toPlainOnly: boolean },
  ) => PropertyDecorator;
}

/**
 * Has class-transformer, where it is installed, write `show(object)` for a property. `ClassSerializerInterceptor` makes
 * a plain object before there is JSON, and asks no `toJSON`.
 */
export function transformToPlain(target: object, property: string | symbol, show: (object: object) => unknown): void {
  const { Transform } = loadClassTransformer() ?? {};
  Transform?.(({ obj }) => show(obj), { toPlainOnly: true })(target, property);
}

function loadClassTransformer(): ClassTransformer | undefined {
  try {
    // An import would need it to be there.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    return require('class-transformer') as ClassTransformer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
