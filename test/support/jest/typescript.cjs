/** How jest and typescript-hook.cjs compile this workspace's TypeScript. Type checking is `npm run typecheck`. */
const swc = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
  module: { type: 'commonjs' },
};

/** Where the packages of this workspace are found, as jest's `moduleNameMapper`. */
const packages = {
  '^@raindrop/(core|node|typeorm|nestjs)$': '<rootDir>/libs/$1/src/index.ts',
  '^@raindrop/(core|node|typeorm)/internal$': '<rootDir>/libs/$1/src/internal.ts',
  '^@raindrop/(node)/([a-z-]+)$': '<rootDir>/libs/$1/src/$2/index.ts',
  '^@raindrop/(nestjs)/(testing)$': '<rootDir>/libs/$1/src/$2/index.ts',
  '^@raindrop/(cli|nestjs|orm)/([a-z-]+)$': '<rootDir>/libs/$1/src/$2.ts',
};

module.exports = { swc, packages };
