import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type * as TypeScript from 'typescript';
import { InputError } from './input-error.js';
import type { NestProject } from './nest-project.js';

/** The file of a module, which can be extended. */
export interface ModuleFile {
  readonly text: string;
  /** The names in its `imports`: for `TypeOrmModule.forRoot()` both `TypeOrmModule` and `TypeOrmModule.forRoot`. */
  readonly imported: readonly string[];
  /** Whether relative imports have to end in `.js`. */
  readonly hasExtensions: boolean;
  /** The names that the file imports. */
  readonly names: readonly string[];
  /** The text of the file with more import lines, and more elements in the module's `imports`. */
  with(imports: readonly string[], elements: readonly string[]): string;
}

/** Reads the file of a module. @throws InputError when its text cannot be extended */
export function readModule({ ts, folder, moduleFile, moduleName, isEsm }: NestProject): ModuleFile {
  const text = readFileSync(moduleFile, 'utf8');
  const source = ts.createSourceFile(moduleFile, text, ts.ScriptTarget.Latest, true);
  const refused = (why: string): InputError =>
    new InputError(`${relative(folder, moduleFile)} ${why}: import RaindropModule by hand`);
  const options = moduleOptionsOf(ts, source, moduleName);
  if (options === undefined) throw refused(`has no class ${moduleName} with @Module({ ... })`);
  const property = options.properties.find((each) => each.name?.getText() === 'imports');
  if (
    property !== undefined &&
    !(ts.isPropertyAssignment(property) && ts.isArrayLiteralExpression(property.initializer))
  ) {
    throw refused('does not list its imports in the decorator itself');
  }
  const list = property === undefined ? undefined : (property.initializer as TypeScript.ArrayLiteralExpression);
  const statements = source.statements.filter((each) => ts.isImportDeclaration(each));
  const specifiers = statements.map((each) => (each.moduleSpecifier as TypeScript.StringLiteral).text);
  const own = specifiers.filter((each) => each.startsWith('.'));
  return {
    text,
    imported: (list?.elements ?? []).flatMap((each) => namesOf(ts, each)),
    names: statements.flatMap((each) => namesBy(ts, each)),
    hasExtensions: own.length > 0 ? own.some((each) => each.endsWith('.js')) : isEsm,
    with: (imports, elements) => {
      const end = statements.at(-1)?.getEnd() ?? 0;
      const added = imports.map((line) => (end === 0 ? `${line}\n` : `\n${line}`)).join('');
      const place = list === undefined ? placeOf(options, `imports: ${written(elements)},`) : inList(list, elements);
      return text.slice(0, end) + added + text.slice(end, place.at) + place.text + text.slice(place.until);
    },
  };
}

interface Place {
  readonly at: number;
  readonly until: number;
  readonly text: string;
}

function written(elements: readonly string[]): string {
  return `[\n${elements.map((each) => `    ${each},\n`).join('')}  ]`;
}

function placeOf(options: TypeScript.ObjectLiteralExpression, text: string): Place {
  const at = options.getStart() + 1;
  const isEmpty = options.properties.length === 0;
  return { at, until: isEmpty ? options.getEnd() - 1 : at, text: `\n  ${text}${isEmpty ? '\n' : ''}` };
}

/** Adds elements to a list; the text that is there stays as it is, with its comments. */
function inList(list: TypeScript.ArrayLiteralExpression, elements: readonly string[]): Place {
  const last = list.elements.at(-1);
  if (last === undefined && list.getText() === '[]') {
    return { at: list.getStart(), until: list.getEnd(), text: written(elements) };
  }
  const at = last?.getEnd() ?? list.getStart() + 1;
  const lines = elements.map((each) => `\n    ${each}`).join(',');
  return { at, until: at, text: last === undefined ? `${lines},` : `,${lines}` };
}

function namesBy(ts: typeof TypeScript, { importClause }: TypeScript.ImportDeclaration): string[] {
  const named = importClause?.namedBindings;
  const inner =
    named === undefined ? [] : ts.isNamedImports(named) ? named.elements.map((each) => each.name) : [named.name];
  return [...(importClause?.name === undefined ? [] : [importClause.name]), ...inner].map((each) => each.text);
}

function moduleOptionsOf(
  ts: typeof TypeScript,
  source: TypeScript.SourceFile,
  name: string,
): TypeScript.ObjectLiteralExpression | undefined {
  const found = source.statements.find((each) => ts.isClassDeclaration(each) && each.name?.text === name);
  if (found === undefined || !ts.canHaveDecorators(found)) return undefined;
  for (const { expression } of ts.getDecorators(found) ?? []) {
    if (!ts.isCallExpression(expression) || expression.expression.getText() !== 'Module') continue;
    const [options] = expression.arguments;
    if (options !== undefined && ts.isObjectLiteralExpression(options)) return options;
  }
  return undefined;
}

function namesOf(ts: typeof TypeScript, element: TypeScript.Expression): string[] {
  const called = ts.isCallExpression(element) ? element.expression : element;
  if (!ts.isPropertyAccessExpression(called)) return [called.getText()];
  return [called.expression.getText(), called.getText()];
}
