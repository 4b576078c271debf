import { OptionDefaults } from 'typedoc';

/** The API reference in docs/api, made by `npm run docs` from the doc comments of everything public. */
export default {
  name: 'Raindrop: API reference',
  entryPoints: ['libs/{core,node,typeorm,nestjs}/src/index.ts', 'libs/{node,nestjs}/src/*/index.ts'],
  tsconfig: 'tsconfig.json',
  // The type check is a step of its own.
  skipErrorChecking: true,
  blockTags: [...OptionDefaults.blockTags, '@range'],
  excludePrivate: true,
  excludeExternals: true,
  validation: { notExported: false, notDocumented: true, invalidLink: true, rewrittenLink: true },
  packagesRequiringDocumentation: ['@raindrop/core', '@raindrop/nestjs'],
  requiredToBeDocumented: ['Class', 'Interface', 'TypeAlias', 'Variable', 'Function', 'Method', 'Accessor'],
  treatWarningsAsErrors: true,

  plugin: ['typedoc-plugin-markdown'],
  out: 'docs/api',
  outputFileStrategy: 'modules',
  readme: 'none',
  // Lines of the source would change the reference with every commit.
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
