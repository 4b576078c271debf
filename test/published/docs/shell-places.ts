import type { ShellCommand } from './shell-commands.js';

/** Who runs a command of the documents. */
export type ShellPlace =
  /** A test of its own runs it, from the text of the document. */
  | { readonly by: 'guide'; readonly test: string }
  /** cli-guide.e2e-spec.ts runs it, as the command line. */
  | { readonly by: 'raindrop' }
  /** .ci/clean-room, as the first step of .ci/nightly. */
  | { readonly by: 'clean room' }
  /** It takes minutes: shell-runs.e2e-spec.ts asks the program for its help, and it must know every flag. */
  | { readonly by: 'help' }
  /** Its paths must name tests, which `npm test` runs. */
  | { readonly by: 'tests' }
  /** It fetches packages, which must be those that package.json of the libraries and of the repository name. */
  | { readonly by: 'packages' }
  /** It can be run nowhere here; `bash -n` reads it. */
  | { readonly by: 'nobody'; readonly because: string };

interface ShellRule {
  readonly documents: RegExp;
  readonly commands: RegExp;
  readonly place: ShellPlace;
}

const guide = (test: string): ShellPlace => ({ by: 'guide', test });

/** The first rule that fits holds. Every command has one, and every rule has a command. */
export const SHELL_RULES: readonly ShellRule[] = [
  { documents: /./, commands: /^npm ci && npm test\b/, place: { by: 'clean room' } },
  { documents: /./, commands: /^npm ci && npm start\b/, place: { by: 'clean room' } },
  {
    documents: /^README\.md$/,
    commands: /^npm ci && npm run pack\b/,
    place: guide('test/published/release/tarball-app.ts'),
  },
  { documents: /^docs\/migration\.md$/, commands: /./, place: guide('test/published/adoption/adopt-real.ts') },
  { documents: /./, commands: /^npm install /, place: { by: 'packages' } },
  {
    documents: /^(README|docs\/versions)\.md$/,
    commands: /^npm pkg set /,
    place: { by: 'nobody', because: 'it changes an application of the reader; npm run packaging makes such ones' },
  },
  { documents: /./, commands: /^npm run [\w:]+/, place: { by: 'help' } },
  { documents: /./, commands: /^npx jest /, place: { by: 'tests' } },
  {
    documents: /./,
    commands: /^docker /,
    place: {
      by: 'nobody',
      because: 'it needs Docker; test/published/deploy reads the Dockerfile and docker-compose.yml',
    },
  },
  {
    documents: /./,
    commands: /^kubectl /,
    place: { by: 'nobody', because: 'it needs a cluster; test/published/deploy reads the manifests' },
  },
  {
    documents: /^docs\/service\.md$/,
    commands: /^curl /,
    place: guide('test/product/service/service-guide.e2e-spec.ts'),
  },
  {
    documents: /^docs\/health\.md$/,
    commands: /^curl /,
    place: guide('test/published/docs/health-guide.int-spec.ts'),
  },
  {
    documents: /^docs\/getting-started\.md$/,
    commands: /./,
    place: guide('test/published/docs/getting-started-guide.int-spec.ts'),
  },
  ...['better-auth', 'drizzle', 'mikro-orm', 'multi-tenant', 'own-store', 'prisma', 'two-data-centres'].map((name) => ({
    documents: new RegExp(`^examples/${name}/`),
    commands: /^\(cd \.\.\/\.\. && npm ci && npm run build:(libs|orm)\)$|^(\w+=\S+ )*npm start$|^curl /,
    place: guide(`test/product/examples/${name}.e2e-spec.ts`),
  })),
  {
    documents: /^apps\/demo\//,
    commands: /^npm ci && npm run demo$|^curl /,
    place: guide('test/product/examples/shop.e2e-spec.ts'),
  },
  { documents: /^(docs|libs)\//, commands: /^(raindrop|export|unset) /, place: { by: 'raindrop' } },
];

/** @returns undefined when no place is noted for it */
export function shellPlaceOf({ document, command }: ShellCommand): ShellPlace | undefined {
  return ruleOf(document, command)?.place;
}

export function ruleOf(document: string, command: string): ShellRule | undefined {
  return SHELL_RULES.find((rule) => rule.documents.test(document) && rule.commands.test(command));
}
