import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type * as TypeScript from 'typescript';
import { InputError } from '../input-error.js';
import { projectTypescript } from '../project/open-project.js';

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
}

/**
 * Reads a Nest application, and finds the module that it starts.
 * @throws InputError when this is no Nest application, or its `main.ts` cannot be read
 */
export function nestProject(path: string): NestProject {
  const folder = resolve(path);
  const manifest = jsonIn(join(folder, 'package.json'));
  if (manifest === undefined) throw new InputError(`--project ${path}: there is no package.json that can be read`);
  const ranges = ['dependencies', 'devDependencies'].flatMap((field) =>
    Object.entries((manifest[field] as Record<string, string> | undefined) ?? {}),
  );
  const packages = ranges.map(([name]) => name);
  if (!packages.includes('@nestjs/core')) {
    throw new InputError(
      `--project ${path}: its package.json does not name @nestjs/core. Begin with npx @nestjs/cli new`,
    );
  }
  const ts = projectTypescript(folder);
  const sources = jsonIn(join(folder, 'nest-cli.json'))?.['sourceRoot'];
  const main = join(folder, typeof sources === 'string' ? sources : 'src', 'main.ts');
  if (!existsSync(main)) throw new InputError(`--project ${path}: there is no ${relative(folder, main)}`);
  // @nestjs/typeorm 12 is an ES module, which jest does not load in a CommonJS application.
  const isOld = ranges.some(([name, range]) => name === '@nestjs/core' && /^\D*1[01]\b/.test(range));
  return {
    ts,
    folder,
    packages,
    typeormModule: isOld ? '11' : undefined,
    isEsm: manifest['type'] === 'module',
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
    throw new InputError(`${where} has no NestFactory.create(AppModule): import RaindropModule by hand`);
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
    `${where} imports ${moduleName} from ${specifier}, and there is no ${relative(folder, moduleFile)}`,
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
