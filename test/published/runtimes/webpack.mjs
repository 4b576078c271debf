/* Bundles the application's dist/main.js into bundle/main.cjs, minified. Given the packages that stay out of it. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const webpack = createRequire(import.meta.url)('webpack');
const outside = process.argv.slice(2);
const isOutside = (request) => outside.some((name) => request === name || request.startsWith(`${name}/`));

const settings = {
  mode: 'production',
  target: 'node',
  entry: './dist/main.js',
  output: { path: resolve('bundle'), filename: 'main.cjs', chunkFormat: 'commonjs' },
  externals: ({ request }, done) => (isOutside(request) ? done(null, `commonjs ${request}`) : done()),
  // What import() names would become a file of its own.
  plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
};

webpack(settings, (error, stats) => {
  if (error === null && !stats.hasErrors()) return;
  console.error(error ?? stats.toString({ preset: 'errors-only' }));
  process.exitCode = 1;
});
