import { existsSync } from 'node:fs';
import { OptionDefaults } from 'typedoc';

/** `npm run build:orm` installs the ORMs, whose types stand in the doc of their entries; `npm ci` does not. */
const orms = ['drizzle', 'kysely', 'mikro-orm', 'sequelize'];
const missing = orms.filter((orm) => !existsSync(new URL(`test/orms/${orm}/node_modules`, import.meta.url)));
for (const orm of missing)
  console.warn(`docs/api lacks @raindrop/orm/${orm}: npm run build:orm installs what it needs`);

/**
 * The API reference in docs/api, which is not in git: `npm run docs` makes it from the doc comments, and so does CI. An
 * export without a doc comment, a broken link and any other warning end the build.
 */
export default {
  name: 'Raindrop: API reference',
  entryPoints: [
    'libs/{core,node,typeorm,nestjs}/src/index.ts',
    'libs/{node,nestjs}/src/*/index.ts',
    'libs/nestjs/src/{class-validator,cluster,etcd,graphql,nats,opentelemetry,public-ids,redis,remote,swagger,terminus,threads,typeorm}.ts',
    // It names no types of its ORM.
    'libs/orm/src/prisma.ts',
    ...orms.filter((orm) => !missing.includes(orm)).map((orm) => `libs/orm/src/${orm}.ts`),
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
