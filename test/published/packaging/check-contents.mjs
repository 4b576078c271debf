import { readFileSync } from 'node:fs';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const ALLOWED = [
  /^dist\/.+\.m?js$/,
  /^dist\/.+\.d\.m?ts$/,
  /^package\.json$/,
  /^schematics\/.+\.json$/,
  /^README\.md$/,
  /^LICENSE$/,
];
const TESTS = /\.(spec|int-spec|e2e-spec)\.|\.tsbuildinfo$/;
const REQUIRED = ['package.json', 'README.md', 'LICENSE'];

/** The tarballs hold the compiled library and its papers, no tests, no leftovers; publint finds no fault. */
export async function checkContents(packages) {
  const problems = await Promise.all(packages.map((library) => problemsOf(library)));
  return problems.flat();
}

async function problemsOf({ manifest, tarball, files }) {
  // A `testing` folder is the library's own test material, but for the one that is offered to its users.
  const offered = './testing' in manifest.exports ? 'dist/testing/' : '(none)';
  const isTesting = (file) => file.split('/').includes('testing') && !file.startsWith(offered);
  const isStray = (file) => !ALLOWED.some((pattern) => pattern.test(file)) || TESTS.test(file) || isTesting(file);

  const bytes = readFileSync(tarball);
  const { messages, pkg } = await publint({
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) },
    level: 'suggestion',
    strict: true,
  });
  return [
    ...files.filter(isStray).map((file) => `does not belong into the tarball (a stale dist? npm run clean): ${file}`),
    ...REQUIRED.filter((file) => !files.includes(file)).map((file) => `is missing in the tarball: ${file}`),
    ...messages.map((message) => `publint ${message.type}: ${formatMessage(message, pkg, { color: false })}`),
  ].map((problem) => `${manifest.name} ${problem}`);
}
