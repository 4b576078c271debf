import { ConfigurationError } from '@raindrop/core';

/**
 * Without the compiler's option `experimentalDecorators` a decorator of a property gets `undefined` and a context, and the
 * decorators of Nest, class-validator and class-transformer fail on them with a TypeError.
 * @param decorator its name, such as `@PublicId()`
 * @throws ConfigurationError that names the option
 */
export function refuseStandardDecorator(decorator: string, target: object | undefined, property: unknown): void {
  if (target !== undefined) return;
  const { name } = property as ClassFieldDecoratorContext;
  const message =
    'is on a property of a class that was compiled without experimentalDecorators, which Nest requires. Set ' +
    '"experimentalDecorators" and "emitDecoratorMetadata" to true in compilerOptions of tsconfig.json';
  throw new ConfigurationError([{ option: decorator, given: String(name), message }]);
}
