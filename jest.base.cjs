const { esmPackages } = require('./jest.esm-packages.cjs');

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
  testEnvironment: '<rootDir>/test/support/jest/missing-environment.ts',
  // For what hangs. Whatever a test waits for has a deadline of its own; a busy machine may be ten times slower.
  testTimeout: 180_000,
  transform: { '^.+\\.(m?ts|m?js)$': swc },
  // Nest 12 is ESM-only, which jest cannot load before Node 24.9: such packages are transformed, and no others.
  transformIgnorePatterns: [`/node_modules/(?!(?:${esmPackages().join('|')})/)`],
  extensionsToTreatAsEsm: [],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: {
    '^@raindrop/(core|node|typeorm|nestjs)$': '<rootDir>/libs/$1/src/index.ts',
    '^@raindrop/(core|node|typeorm)/internal$': '<rootDir>/libs/$1/src/internal.ts',
    '^@raindrop/(node)/([a-z-]+)$': '<rootDir>/libs/$1/src/$2/index.ts',
    '^@raindrop/(nestjs)/(testing)$': '<rootDir>/libs/$1/src/$2/index.ts',
    '^@raindrop/(nestjs)/([a-z-]+)$': '<rootDir>/libs/$1/src/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/libs/[^/]+/dist/'],
};
