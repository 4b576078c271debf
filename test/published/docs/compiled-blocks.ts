import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeOf, type Block } from './documents.js';

const MODULES = join(__dirname, '../../../node_modules');
/** The ORMs that stand apart from the workspace: `npm run build:orm` installs them. */
const ORMS = {
  'drizzle-orm': [join(__dirname, '../../orms/drizzle/node_modules/drizzle-orm/index.d.ts')],
  'drizzle-orm/*': [join(__dirname, '../../orms/drizzle/node_modules/drizzle-orm/*/index.d.ts')],
  kysely: [join(__dirname, '../../orms/kysely/node_modules/kysely/dist/index.d.ts')],
  mongoose: [join(__dirname, '../../orms/mongoose/node_modules/mongoose/types/index.d.ts')],
  sequelize: [join(__dirname, '../../orms/sequelize/node_modules/sequelize/types/index.d.ts')],
  'sequelize-typescript': [join(__dirname, '../../orms/sequelize/node_modules/sequelize-typescript/dist/index.d.ts')],
  '@nestjs/sequelize': [join(__dirname, '../../orms/sequelize/node_modules/@nestjs/sequelize/dist/index.d.ts')],
  '@mikro-orm/decorators/*': [join(__dirname, '../../orms/mikro-orm/node_modules/@mikro-orm/decorators/*/index.d.ts')],
  '@prisma/orm-postgres/*': [join(__dirname, '../../orms/prisma-8/node_modules/@prisma/orm-postgres/dist/*.d.mts')],
  '@prisma/cli-engine': [join(__dirname, '../../orms/prisma-8/node_modules/@prisma/cli-engine/dist/index.d.ts')],
  'contract-of-prisma-8': [join(__dirname, '../../orms/prisma-8/generated/docs/contract.d.ts')],
  '@prisma/*': [join(__dirname, '../../orms/prisma/node_modules/@prisma/*/dist/index.d.ts')],
  '@mikro-orm/*': [join(__dirname, '../../orms/mikro-orm/node_modules/@mikro-orm/*/index.d.ts')],
};
/** The types that Prisma 8 has emitted of the schema of docs/prisma-8.md: test/orms/prisma-8/generate.mjs. */
const CONTRACT = 'contract-of-prisma-8';
const ASSUMED = readFileSync(join(__dirname, 'assumed-names.ts'), 'utf8');

/** As the getting-started guide tells readers to set it, and nothing else that could hide a mistake. */
export const COMPILER_OPTIONS = {
  target: 'ES2022',
  module: 'nodenext',
  types: ['node', 'jest'],
  strict: true,
  skipLibCheck: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  noEmit: true,
};

/** The code alone: what stands in comments and plain strings names nothing. */
function codeOf(text: string): string {
  return text.replace(/\/\/.*$|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/gm, ' ');
}

const words = (text: string): string[] => text.match(/[A-Za-z_$][\w$]*/g) ?? [];

/** What a block declares at its top level. */
function declaredIn(text: string): string[] {
  const code = codeOf(text);
  const named = /^(?:export )?(?:async )?(?:abstract )?(?:class|function\*?|const|let|type|interface|enum) ([\w$]+)/gm;
  const patterns = /^(?:export )?(?:const|let) [{[]([^=]*)[}\]] =/gm;
  return [
    ...[...code.matchAll(named)].map(([, name]) => name!),
    ...[...code.matchAll(patterns)].flatMap(([, names]) => words(names!)),
  ];
}

/** What its own import lines bring; those of neighbouring files are left to the blocks that show these files. */
function importsIn(text: string): string[] {
  const clauses = [...text.matchAll(/^import (?:type )?([^;]*) from '[^.'][^']*';$/gm)];
  return clauses.flatMap(([, clause]) => words(clause!.replace(/\btype\b/g, '')));
}

/** Fragments of a class and of an object get around them what the text around the block says. */
function wrap(text: string): readonly [before: string, after: string] {
  const code = codeOf(text).trim();
  if (/^@\w+\(/.test(code) && !/\bclass\b/.test(code)) return ['export class Fragment { ', '}'];
  if (/^\w+: /.test(code)) return ['export const fragment = { ', '};'];
  return ['', ''];
}

/**
 * The first line of every file, so that the lines of errors are those of the block, one further: what earlier blocks
 * declare and what the reader is taken to have. Whatever else a block uses it has to import.
 */
function importsOf(block: Block, earlier: readonly Block[]): string {
  const own = new Set([...declaredIn(block.text), ...importsIn(block.text)]);
  const used = new Set(words(codeOf(block.text)).filter((name) => !own.has(name)));
  const lines: string[] = [];
  const take = (names: readonly string[], from: string): void => {
    const taken = [...new Set(names)].filter((name) => used.delete(name));
    if (taken.length > 0) lines.push(`import { ${taken.join(', ')} } from '${from}';`);
  };
  for (const each of [...earlier].reverse()) {
    take(declaredIn(each.text), `./${fileOf(each)}.js`);
  }
  take(['Contract'], CONTRACT);
  take(
    [...ASSUMED.matchAll(/^export declare (?:class|const|function) (\w+)/gm)].map(([, name]) => name!),
    './assumed.js',
  );
  return lines.join(' ');
}

/** Exports everything, for the blocks behind it. */
function exportsOf(text: string): string {
  const exported = /^export (?:async )?(?:abstract )?(?:class|function\*?|const|let|type|interface|enum) [\w$]+/gm;
  const already = new Set([...codeOf(text).matchAll(exported)].map(([line]) => words(line).at(-1)!));
  const patterns = [...codeOf(text).matchAll(/^export (?:const|let) [{[]([^=]*)[}\]] =/gm)];
  for (const name of patterns.flatMap(([, names]) => words(names!))) already.add(name);
  return `export { ${declaredIn(text)
    .filter((name) => !already.has(name))
    .join(', ')} };`;
}

const fileOf = (block: Block): string => placeOf(block).replace(/[^\w]+/g, '-');

/** Writes the blocks of all documents into a folder, as a project that `tsc` can check. */
export function writeProject(folder: string, blocks: readonly Block[]): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(MODULES, join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...COMPILER_OPTIONS, paths: ORMS }, include: ['*.ts'] }),
  );
  writeFileSync(join(folder, 'assumed.ts'), ASSUMED);
  for (const [index, block] of blocks.entries()) {
    const earlier = blocks.slice(0, index).filter(({ document }) => document === block.document);
    const [before, after] = wrap(block.text);
    const text = block.text.replace(/^import [^;]* from '\.[^']*'(?: with \{[^}]*\})?;$/gm, '');
    const file = `${importsOf(block, earlier)} ${before}\n${text}${after}\n${before === '' ? exportsOf(block.text) : ''}\n`;
    writeFileSync(join(folder, `${fileOf(block)}.ts`), file);
  }
}

/** What `tsc` printed, with the places of the documents in place of those of the files. */
export function errorsOf(printed: string, blocks: readonly Block[]): string[] {
  const byFile = new Map(blocks.map((block) => [fileOf(block), block]));
  return printed
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) =>
      line.replace(/^([\w-]+)\.ts\((\d+),\d+\)/, (whole, file: string, number: string) => {
        const block = byFile.get(file);
        return block === undefined ? whole : `${block.document}:${block.line + Number(number) - 1}`;
      }),
    );
}
