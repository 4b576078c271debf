/** What every jest run of this workspace shares. Type checking is `npm run typecheck`. */
const swc = [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
  },
];

module.exports = {
  rootDir: __dirname,
  testEnvironment: 'node',
  // For what hangs. Whatever a test waits for has a deadline of its own; a busy machine may be ten times slower.
  testTimeout: 180_000,
  // Nest 12 is ESM-only; jest on Node 20 cannot load it, so packages are transformed as well.
  transform: { '^.+\\.(m?ts|m?js)$': swc },
  transformIgnorePatterns: [],
  extensionsToTreatAsEsm: [],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: {
    '^@raindrop/core$': '<rootDir>/libs/core/src/index.ts',
    '^@raindrop/nestjs$': '<rootDir>/libs/nestjs/src/index.ts',
    '^@raindrop/nestjs/(class-validator|opentelemetry|public-ids|redis|remote|swagger|terminus|testing|threads)$':
      '<rootDir>/libs/nestjs/src/$1/index.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/libs/[^/]+/dist/'],
};
