import { isMissingPackage, requireSupported } from '@raindrop/node/internal';

/** The part of class-transformer that is used. */
interface ClassTransformer {
  readonly Transform: (
    transform: (of: { readonly value: unknown; readonly key: string; readonly obj: object }) => unknown,
    options: { readonly toPlainOnly?: boolean; readonly toClassOnly?: boolean },
  ) => PropertyDecorator;
  readonly Type: (type: () => unknown) => PropertyDecorator;
}

/** Loads class-transformer; undefined when it is not installed. */
export function loadClassTransformer(): ClassTransformer | undefined {
  requireSupported('class-transformer', () => __filename);
  try {
    // An import statement would fail where it is not installed.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    return require('class-transformer') as ClassTransformer;
  } catch (error) {
    if (isMissingPackage(error, 'class-transformer')) return undefined;
    throw error;
  }
}
