import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(__dirname, '../../..');

const PACKAGES = ['core', 'node', 'typeorm', 'nestjs', 'cli'];

/** No caller has to name this one: `firstOf()` makes it, and its type is in a signature. */
const UNNAMED = ['FirstOf'];

function filesIn(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return pattern.test(entry.name) ? [path] : [];
    return /^(node_modules|dist|api)$/.test(entry.name) ? [] : filesIn(path, pattern);
  });
}

/** The documents that people write, the examples, and the applications. */
const READ = [
  'README.md',
  ...filesIn('docs', /\.md$/),
  ...filesIn('examples', /\.(md|ts|mjs)$/),
  ...filesIn('apps', /\.(md|ts)$/),
  ...PACKAGES.map((name) => `libs/${name}/README.md`),
].map((path) => readFileSync(join(ROOT, path), 'utf8'));

const { compilerOptions } = ts.getParsedCommandLineOfConfigFile(
  join(ROOT, 'tsconfig.json'),
  {},
  {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: () => undefined,
  },
)!.raw as { compilerOptions: { paths: Record<string, string[]> } };
const entry = (name: string): string => join(ROOT, 'libs', name, 'src/index.ts');
const program = ts.createProgram(PACKAGES.map(entry), {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  noEmit: true,
  skipLibCheck: true,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  experimentalDecorators: true,
  paths: Object.fromEntries(
    Object.entries(compilerOptions.paths).map(([name, paths]) => [name, paths.map((path) => join(ROOT, path))]),
  ),
});
const checker = program.getTypeChecker();

function isTypeOnly({ declarations }: ts.Symbol): boolean {
  const [declaration] = declarations ?? [];
  return declaration !== undefined && ts.isExportSpecifier(declaration) && ts.isTypeOnlyExportDeclaration(declaration);
}

/** The values that a package's main entry exports, each with the file that declares it. */
function valuesOf(name: string): Map<string, string> {
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry(name))!)!;
  const values = checker.getExportsOfModule(module).flatMap((symbol): [string, string][] => {
    if (isTypeOnly(symbol)) return [];
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if ((target.flags & ts.SymbolFlags.Value) === 0) return [];
    return [[symbol.name, relative(ROOT, target.declarations![0]!.getSourceFile().fileName)]];
  });
  return new Map(values);
}

describe.each(PACKAGES)('The main entry of %s', (name) => {
  const values = valuesOf(name);
  const below = { node: 'core', nestjs: 'node' }[name];
  const handedOn = new Set(below === undefined ? [] : valuesOf(below).keys());
  const own = [...values.keys()].filter((value) => !handedOn.has(value));

  it('has no value that no document, example or application uses', () => {
    expect(own.length).toBeGreaterThan(0);
    const unused = own.filter((value) => !READ.some((text) => new RegExp(`\\b${value}\\b`).test(text)));
    expect(unused.filter((value) => !UNNAMED.includes(value))).toEqual([]);
  });
});
