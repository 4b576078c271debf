// Copies the page beside the compiled service, its scripts as one file, and makes a compressed twin of each file.
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { bundle, minifySync } from '@swc/core';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../../dist/apps/id-service/public');
const jsc = { target: 'es2022', parser: { syntax: 'ecmascript' } };

rmSync(out, { recursive: true, force: true });
cpSync(join(here, 'public'), out, { recursive: true });

const { page } = await bundle({
  entry: { page: join(here, 'public/scripts/page.js') },
  output: { path: out, name: 'page.js' },
  module: {},
  target: 'browser',
  mode: 'production',
  options: { swcrc: false, jsc },
});
// It stands in the head, so that the theme is known before the first paint: no module, which would come later.
const { code } = minifySync(`(()=>{${page.code}})();`, { compress: true, mangle: true });
writeFileSync(join(out, 'page.js'), code);

for (const name of readdirSync(out)) {
  if (!['.js', '.css', '.html', '.svg'].includes(extname(name))) continue;
  const file = readFileSync(join(out, name));
  writeFileSync(join(out, `${name}.gz`), gzipSync(file, { level: 9 }));
  writeFileSync(
    join(out, `${name}.br`),
    brotliCompressSync(file, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
}
