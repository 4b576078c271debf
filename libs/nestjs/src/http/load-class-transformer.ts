import { isMissingPackage } from '@raindrop/node/internal';

/** The parts of class-transformer that are needed here. */
export interface ClassTransformer {
  readonly Transform: (
    transform: (of: { readonly value: unknown; readonly key: string; readonly obj: object }) => unknown,
    options: { readonly toPlainOnly?: boolean; readonly toClassOnly?: boolean },
  ) => PropertyDecorator;
  readonly Type: (type: () => unknown) => PropertyDecorator;
}

/** class-transformer where it is installed; undefined elsewhere. */
export function loadClassTransformer(): ClassTransformer | undefined {
  try {
    // An import would need it to be there.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    return require('class-transformer') as ClassTransformer;
  } catch (error) {
    if (isMissingPackage(error, 'class-transformer')) return undefined;
    throw error;
  }
}
