import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type * as TypeScript from 'typescript';
import { InputError } from './input-error.js';
import { projectTypescript } from './project-typescript.js';

/** A Nest application, as `init --project` reads it. */
export interface NestProject {
  readonly ts: typeof TypeScript;
  readonly folder: string;
  /** Whether its files are ES modules. */
  readonly isEsm: boolean;
  /** The packages that its package.json names. */
  readonly packages: readonly string[];
  /** The major version of `@nestjs/typeorm` that fits its Nest; undefined for the newest one. */
  readonly typeormModule: '11' | undefined;
  /** The file of the module that `main.ts` starts. */
  readonly moduleFile: string;
  /** The class of that module. */
  readonly moduleName: string;
  /** Whether `main.ts` enables shutdown hooks. */
  readonly hasShutdownHooks: boolean;
}

/** What `nest-cli.json` says, as far as it matters here. */
interface NestCli {
  readonly sourceRoot?: unknown;
  readonly entryFile?: unknown;
  readonly compilerOptions?: { readonly tsConfigPath?: unknown };
}

/**
 * Reads a Nest application, and finds the module that it starts.
 * @param sourceRoot in the place of that of `nest-cli.json`: a monorepo has one for each of its applications
 * @throws InputError when this is no Nest application, its decorators are not those of Nest, or its entry file cannot be
 * read
 */
export function nestProject(path: string, sourceRoot?: string): NestProject {
  const folder = resolve(path);
  const manifest = jsonIn(join(folder, 'package.json'));
  if (manifest === undefined) throw new InputError(`--project ${path}: package.json is missing or not valid JSON`);
  const ranges = ['dependencies', 'devDependencies'].flatMap((field) =>
    Object.entries((manifest[field] as Record<string, string> | undefined) ?? {}),
  );
  const packages = ranges.map(([name]) => name);
  if (!packages.includes('@nestjs/core')) {
    throw new InputError(
      `--project ${path}: package.json does not list @nestjs/core. Create an application with npx @nestjs/cli new`,
    );
  }
  const ts = projectTypescript(folder);
  const nestCli: NestCli = {
    ...jsonIn(join(folder, 'nest-cli.json')),
    ...(sourceRoot !== undefined && { sourceRoot }),
  };
  const main = entryFileOf(path, folder, nestCli);
  refuseStandardDecorators(ts, folder, nestCli);
  // @nestjs/typeorm 12 is an ES module, which jest does not load in a CommonJS application.
  const isOld = ranges.some(([name, range]) => name === '@nestjs/core' && /^\D*1[01]\b/.test(range));
  return {
    ts,
    folder,
    packages,
    typeormModule: isOld ? '11' : undefined,
    isEsm: manifest['type'] === 'module',
    hasShutdownHooks: readFileSync(main, 'utf8').includes('enableShutdownHooks'),
    ...startedModule(ts, main, folder),
  };
}

function jsonIn(file: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The file that `nest start` runs: `entryFile` counts from `sourceRoot`, or from the folder itself. */
function entryFileOf(path: string, folder: string, { sourceRoot, entryFile }: NestCli): string {
  const root = typeof sourceRoot === 'string' ? sourceRoot : 'src';
  const name = typeof entryFile === 'string' ? entryFile.replace(/\.[jt]s$/, '') : 'main';
  const places = [join(folder, root, `${name}.ts`), join(folder, `${name}.ts`)];
  const found = places.find((each) => existsSync(each));
  if (found !== undefined) return found;
  const names = places.map((each) => relative(folder, each)).join(' and no ');
  throw new InputError(
    `--project ${path}: there is no ${entryFile === undefined ? relative(folder, places[0]!) : `${names} (entryFile in nest-cli.json)`}`,
  );
}

/** The compiler's messages about a configuration that names no files. */
const NO_FILES = [18002, 18003];

/** What reading a configuration gives. */
interface Read {
  readonly config?: unknown;
  readonly error?: TypeScript.Diagnostic;
}

/**
 * Refuses an application that is compiled with the decorators of ECMAScript: they get other arguments. What tsconfig.json
 * says is unknown when it, or one that it extends, cannot be read.
 */
function refuseStandardDecorators(ts: typeof TypeScript, folder: string, { compilerOptions }: NestCli): void {
  const named = compilerOptions?.tsConfigPath;
  const file = join(folder, typeof named === 'string' ? named : 'tsconfig.json');
  const { config, error } = ts.readConfigFile(file, (each) => ts.sys.readFile(each)) as Read;
  if (error !== undefined) return;
  const host = { ...ts.sys, readDirectory: () => [] };
  const { options, errors } = ts.parseJsonConfigFileContent(config, host, dirname(file), undefined, file);
  const isUnknown = errors.some(({ code }) => !NO_FILES.includes(code));
  if (options.experimentalDecorators === true || isUnknown) return;
  throw new InputError(
    `${relative(folder, file)} does not set experimentalDecorators, which the decorators of Nest, TypeORM and Raindrop ` +
      'require: add "experimentalDecorators": true and "emitDecoratorMetadata": true to its compilerOptions',
  );
}

/** Finds `NestFactory.create(AppModule)`, and the file from which AppModule is imported. */
function startedModule(
  ts: typeof TypeScript,
  main: string,
  folder: string,
): Pick<NestProject, 'moduleFile' | 'moduleName'> {
  const source = ts.createSourceFile(main, readFileSync(main, 'utf8'), ts.ScriptTarget.Latest, true);
  let moduleName: string | undefined;
  const visit = (node: TypeScript.Node): void => {
    if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      node.expression.expression.getText() === 'NestFactory'
    ) {
      const [first] = node.arguments;
      if (first !== undefined && ts.isIdentifier(first)) moduleName ??= first.text;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const where = relative(folder, main);
  if (moduleName === undefined) {
    throw new InputError(`${where} does not call NestFactory.create(AppModule): import RaindropModule by hand`);
  }
  const specifier = importedFrom(ts, source, moduleName);
  if (specifier?.startsWith('.') !== true) {
    throw new InputError(
      `${where} does not import ${moduleName} from a file of this project: import RaindropModule by hand`,
    );
  }
  const moduleFile = join(dirname(main), `${specifier.replace(/\.[cm]?js$/, '')}.ts`);
  if (existsSync(moduleFile)) return { moduleFile, moduleName };
  throw new InputError(
    `${where} imports ${moduleName} from ${specifier}, but ${relative(folder, moduleFile)} does not exist`,
  );
}

function importedFrom(ts: typeof TypeScript, source: TypeScript.SourceFile, name: string): string | undefined {
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const { importClause } = statement;
    const named = importClause?.namedBindings;
    const names = [
      importClause?.name?.text,
      ...(named !== undefined && ts.isNamedImports(named) ? named.elements.map((each) => each.name.text) : []),
    ];
    if (names.includes(name)) return statement.moduleSpecifier.text;
  }
  return undefined;
}
