import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

const root = dirname(fileURLToPath(import.meta.url));
const TESTS = ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.e2e-spec.ts', '**/testing/**'];

/**
 * What stands on ORMs, which `npm ci` leaves out, and on libraries as they were packed last: rules about types would judge
 * what happens to be installed. test/orms/lint.e2e-spec.ts applies them, behind `npm run build:orm`.
 */
export const orms = {
  files: [
    'libs/orm/src/{drizzle,kysely,mikro-orm,sequelize}.ts',
    'libs/orm/src/{drizzle,kysely,mikro-orm,sequelize}/*.ts',
    'test/orms/*/*.ts',
    'examples/{better-auth,drizzle,mikro-orm,prisma}/**/*.ts',
  ],
  ...(process.env['RAINDROP_LINT_ORMS'] === undefined && {
    ...tseslint.configs.disableTypeChecked,
    linterOptions: { reportUnusedDisableDirectives: 'off' },
  }),
};

/** Fake timers of tests would stop a lease, and move it in time: these are taken once, when the package is loaded. */
const OF_THE_MOMENT = [
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'],
  ...['queueMicrotask', 'performance'],
];
const OF_LOAD_TIME = 'fake timers replace it: take wallClock, monotonicClock or hostTimers';

/** What each package must not import, types included: what stands above it, and what it does not declare. */
const FORBIDDEN = {
  core: [['^[^.]', 'libs/core has no dependency: import relative files only']],
  node: [
    ['^@raindrop/(?!core(/internal)?$)|^@nestjs/|^typeorm$|^rxjs', 'libs/node knows @raindrop/core and drivers only'],
    ['^(node:)?timers', OF_LOAD_TIME],
  ],
  typeorm: [
    ['^@raindrop/(nestjs|cli|orm)|^@nestjs/|^rxjs', 'libs/typeorm knows no Nest'],
    ['^(node:)?timers', OF_LOAD_TIME],
  ],
  orm: [
    ['^@raindrop/(?!(core|node)(/internal)?$)|^@nestjs/|^typeorm$', 'libs/orm stands on libs/node'],
    ['^(node:)?timers', OF_LOAD_TIME],
  ],
  nestjs: [
    ['^typeorm$|^@nestjs/typeorm$|^@raindrop/(typeorm|orm|cli)', 'libs/nestjs loads TypeORM in src/orm only'],
    ['^(node:)?timers', OF_LOAD_TIME],
  ],
  cli: [['^@raindrop/(nestjs|typeorm|orm)|^@nestjs/|^typeorm$', 'libs/cli stands on libs/node']],
};

/** The folders of each package from the bottom; each imports only those before it, a parent folder its subfolders. */
const FOLDERS = {
  core: [
    ...['config', 'copies', 'time', 'codec', 'layout', 'generator', 'presets', 'lease', 'recognition'],
    ...['worker-id', 'prefetch', 'segment', 'zero-config', 'ring', 'short-id'],
  ],
  node: [
    ...['ports', 'system', 'database', 'tables', 'worker-table', 'segment-table', 'worker-node-table'],
    ...[
      'business-number-table',
      'state-file',
      'drivers',
      'redis',
      'key-values',
      'etcd',
      'nats',
      'options',
      'workers',
      'engines',
      'service',
      'remote',
      'threads',
      'public-ids',
      'testing',
      'nest-project',
    ],
  ],
  typeorm: ['connection', 'generated-snowflake', 'business-number', 'migrations'],
  nestjs: ['orm', 'http', 'module', 'testing'],
  cli: ['io', 'options', 'adopt', 'decoding', 'sql', 'service', 'doctor', 'project', 'commands'],
};

const zones = Object.entries(FOLDERS).flatMap(([name, folders]) =>
  folders.slice(0, -1).map((folder, index) => ({
    target: `./libs/${name}/src/${folder}`,
    from: folders.slice(index + 1).map((above) => `./libs/${name}/src/${above}`),
    message: `libs/${name}: ${folder} must not import from later folders`,
  })),
);

/** In these packages the files outside folders are entries: nothing imports them. */
const entries = ['node', 'typeorm'].map((name) => ({
  target: `./libs/${name}/src/*/**/*`,
  from: `./libs/${name}/src/*.ts`,
  message: `libs/${name}: the entries stand above the folders`,
}));

export const packages = [
  ...Object.entries(FORBIDDEN).map(([name, patterns]) => ({
    files: [`libs/${name}/src/**/*.ts`],
    ignores: [...TESTS, 'libs/nestjs/src/orm/**', 'libs/nestjs/src/typeorm.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...patterns.map(([regex, message]) => ({ regex, message })),
            { group: ['**/libs/*/src/**'], message: 'import the package, not its files' },
          ],
        },
      ],
    },
  })),
  {
    files: ['libs/*/src/**/*.ts'],
    ignores: TESTS,
    plugins: { 'import-x': importX },
    rules: { 'import-x/no-restricted-paths': ['error', { basePath: root, zones: [...zones, ...entries] }] },
  },
  {
    files: ['libs/{core,node,typeorm,orm,nestjs}/src/**/*.ts'],
    ignores: ['**/*spec.ts', 'libs/core/src/ports.ts', 'libs/node/src/system/system-ports.ts'],
    rules: {
      'no-restricted-globals': ['error', ...OF_THE_MOMENT.map((name) => ({ name, message: OF_LOAD_TIME }))],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: OF_LOAD_TIME },
        { object: 'process', property: 'nextTick', message: OF_LOAD_TIME },
      ],
    },
  },
  {
    // They use what applications use.
    files: ['apps/**/*.ts', 'examples/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              // What Nest adds nothing to has an entry of node.
              regex: '^@raindrop/(core|typeorm|cli|node(?!/(redis|etcd|nats|remote|testing|threads)$))',
              message: 'take it from @raindrop/nestjs or one of its entries',
            },
            { group: ['**/libs/*/src/**'], message: 'import the package, not its files' },
          ],
        },
      ],
    },
  },
];
