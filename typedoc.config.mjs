import { OptionDefaults } from 'typedoc';

/**
 * The API reference in docs/api, which is not in git: `npm run docs` makes it from the doc comments, and so does CI. An
 * export without a doc comment, a broken link and any other warning end the build. It needs `npm run install:types`.
 */
export default {
  name: 'Raindrop: API reference',
  entryPoints: [
    'libs/{core,node,typeorm,nestjs}/src/index.ts',
    'libs/{node,nestjs}/src/!(nest-project)/index.ts',
    'libs/nestjs/src/{class-validator,graphql,opentelemetry,public-ids,swagger,terminus,threads,typeorm,zod}.ts',
    'libs/orm/src/{drizzle,kysely,mikro-orm,prisma,prisma-8,sequelize}.ts',
  ],
  tsconfig: 'tsconfig.docs.json',
  // The type check is a step of its own.
  skipErrorChecking: true,
  blockTags: [...OptionDefaults.blockTags, '@range'],
  excludePrivate: true,
  excludeExternals: true,
  validation: { notExported: false, notDocumented: true, invalidLink: true, rewrittenLink: true },
  packagesRequiringDocumentation: ['core', 'node', 'typeorm', 'orm', 'nestjs'].map((name) => `@raindrop/${name}`),
  requiredToBeDocumented: ['Class', 'Interface', 'TypeAlias', 'Variable', 'Function', 'Method', 'Accessor'],
  treatWarningsAsErrors: true,

  plugin: ['typedoc-plugin-markdown'],
  out: 'docs/api',
  outputFileStrategy: 'modules',
  readme: 'none',
  // Readers of the reference have no source at hand.
  disableSources: true,
  githubPages: false,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  enumMembersFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
  typeAliasPropertiesFormat: 'table',
};
