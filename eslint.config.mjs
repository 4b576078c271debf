import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';
import { orms, packages } from './eslint.packages.mjs';

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/generated/**', 'coverage/**'] },
  {
    files: ['**/*.ts', '**/*.mjs', '**/*.cjs'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'write the members one by one: a spread of a literal saves lines, and costs the reader',
        },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    plugins: { 'import-x': importX },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    // The sources name each other as they will be compiled.
    settings: { 'import-x/resolver-next': [importX.createNodeResolver({ extensionAlias: { '.js': ['.ts', '.js'] } })] },
    rules: {
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/prefer-readonly': 'error',
      // An interface of options is what its table of rules says.
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
    },
  },
  {
    // Of the files that no compiler reads. A package of ours is looked up in its sources: lint needs no build.
    files: ['**/*.mjs', '**/*.cjs'],
    plugins: { 'import-x': importX },
    settings: {
      'import-x/extensions': ['.mjs', '.cjs', '.js', '.ts'],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
      'import-x/resolver-next': [
        importX.createNodeResolver({
          conditionNames: ['node', 'import', 'require', 'default'],
          extensionAlias: { '.js': ['.ts', '.js'] },
          tsconfig: { configFile: `${import.meta.dirname}/tsconfig.json` },
        }),
      ],
    },
    rules: {
      'import-x/no-unresolved': ['error', { commonjs: true }],
      'import-x/named': 'error',
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '(^|/)dist(/|$)|/libs/', message: 'import the package, not its files' }] },
      ],
    },
  },
  {
    // Their packages are installed apart (npm run site, npm run build:orm).
    files: ['site/**/*.mjs', 'test/orms/**/*.mjs'],
    rules: { 'import-x/no-unresolved': ['error', { ignore: ['^[^.]'] }] },
  },
  {
    // Their own configuration is of the built libraries, which lint does not need.
    files: ['examples/**/*.ts'],
    ignores: ['examples/{better-auth,drizzle,mikro-orm,prisma}/**'],
    languageOptions: { parserOptions: { projectService: false, project: './tsconfig.json' } },
  },
  ...packages,
  {
    files: ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.e2e-spec.ts', 'test/**/*.ts'],
    rules: { '@typescript-eslint/unbound-method': 'off' },
  },
  orms,
);
