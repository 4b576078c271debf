const ADDRESS = `const __address = require('node:url').pathToFileURL(__filename).href;`;

/**
 * What check.mjs runs the application of ./app in. Each comes in its newest release that runs on this Node, as `tools`,
 * installed beside the application. docs/versions.md lists the same.
 *
 * - `compiled`: tsc first, because the program takes no TypeScript with metadata of decorators.
 * - `bundle`: the command that writes bundle/main.cjs. That file then runs in a folder of its own, without any package.
 * - `start`: the command that starts the application, and `test` the one that runs ./app/ids.test.ts.
 * - `sqlite`: it is started on SQLite as well.
 * - `refuses`: what it prints for an application that names no signals to `enableShutdownHooks()`.
 */
export const runtimes = [
  {
    name: 'bun',
    tools: ['bun'],
    start: ['node_modules/.bin/bun', 'run', 'src/main.ts'],
    sqlite: true,
    test: ['node_modules/.bin/bun', 'test'],
    passed: /^ *2 pass$/m,
  },
  {
    name: 'deno',
    tools: ['deno'],
    // The sources import `./app.module.js`, as tsc wants it.
    start: ['node_modules/.bin/deno', 'run', '--allow-all', '--sloppy-imports', 'src/main.ts'],
    sqlite: true,
    refuses: /Binding to signal 'SIG\w+' is not allowed/,
  },
  {
    name: 'esbuild',
    tools: ['esbuild'],
    compiled: true,
    bundle: [
      ...['node_modules/.bin/esbuild', 'dist/main.js', '--bundle', '--minify', '--platform=node', '--format=cjs'],
      // Nest asks for the address of its own files, which esbuild leaves empty in a CommonJS bundle.
      ...['--define:import.meta.url=__address', `--banner:js=${ADDRESS}`],
      ...['--outfile=bundle/main.cjs', ...external().map((name) => `--external:${name}`)],
    ],
    start: [process.execPath, 'main.cjs'],
  },
  {
    name: 'webpack',
    tools: ['webpack'],
    compiled: true,
    bundle: [process.execPath, 'webpack.mjs', ...external()],
    start: [process.execPath, 'main.cjs'],
  },
  {
    name: 'vitest',
    tools: ['vitest'],
    test: [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--globals', '--no-color'],
    passed: /^ *Tests +2 passed/m,
  },
];

/** The packages that Raindrop and Nest load only where they are installed: a bundler must be told to leave them out. */
function external() {
  const ofRaindrop = ['better-sqlite3', 'mysql2'];
  return [...ofRaindrop, '@nestjs/microservices', '@nestjs/websockets', 'class-transformer', 'class-validator'];
}
