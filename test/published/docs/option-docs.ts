import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** What the doc comment of an option says. */
export interface OptionDoc {
  readonly name: string;
  readonly range: string;
  readonly fallback: string;
  readonly meaning: string;
}

const ROOT = join(__dirname, '../../..');
const FOLDERS = ['libs/core/src', 'libs/node/src', 'libs/typeorm/src', 'libs/nestjs/src'];

/**
 * The options of an interface, in its order: those that it declares itself, and those of the group of rules that it
 * extends, as `LeaseOptions` does `OptionsOf<typeof leaseOptions>`.
 * @throws Error when there is no such interface, or one of its options lacks a comment, `@range` or `@defaultValue`
 */
export function optionDocs(interfaceName: string): OptionDoc[] {
  const declared = sources().interfaces.get(interfaceName);
  if (declared === undefined) throw new Error(`no interface ${interfaceName} in ${FOLDERS.join(', ')}`);
  const groups = (declared.heritageClauses ?? []).flatMap(({ types }) => types).flatMap(groupsOf);
  const members = [...groups.flatMap(rulesOf), ...declared.members.filter(ts.isPropertySignature)];
  return members.map((member) => docOf(interfaceName, member));
}

/** The groups of `OptionsOf<typeof group>`. */
function groupsOf({ expression, typeArguments = [] as never }: ts.ExpressionWithTypeArguments): string[] {
  if (expression.getText() !== 'OptionsOf') return [];
  return typeArguments.filter(ts.isTypeQueryNode).map(({ exprName }) => exprName.getText());
}

/** The rules of a group, with those of groups that it spreads. */
function rulesOf(group: string): ts.PropertyAssignment[] {
  const declared = sources().groups.get(group);
  if (declared === undefined) throw new Error(`no group of options ${group} in ${FOLDERS.join(', ')}`);
  return declared.properties.flatMap((each) => {
    if (ts.isSpreadAssignment(each)) return rulesOf(each.expression.getText());
    return ts.isPropertyAssignment(each) ? [each] : [];
  });
}

function docOf(interfaceName: string, member: ts.PropertySignature | ts.PropertyAssignment): OptionDoc {
  const name = member.name.getText();
  const said = (what: string, text: string | undefined): string => {
    if (text !== undefined && text !== '') return text.replace(/\s+/g, ' ').trim();
    throw new Error(`${interfaceName}.${name} has no ${what} in its doc comment`);
  };
  const tag = (tagName: string): string | undefined => {
    const found = ts.getJSDocTags(member).find((each) => each.tagName.text === tagName);
    return ts.getTextOfJSDocComment(found?.comment);
  };
  const comment = ts.getJSDocCommentsAndTags(member).find(ts.isJSDoc)?.comment;
  const isRequired = ts.isPropertySignature(member)
    ? member.questionToken === undefined
    : /\bisRequired: true\b/.test(member.initializer.getText());
  return {
    name,
    range: said('@range', tag('range')),
    fallback: isRequired ? 'required' : said('@defaultValue', tag('defaultValue')),
    // What follows the first paragraph is for whoever looks the option up in an editor.
    meaning: said('text', ts.getTextOfJSDocComment(comment)?.split('\n\n')[0]),
  };
}

interface Sources {
  readonly interfaces: ReadonlyMap<string, ts.InterfaceDeclaration>;
  readonly groups: ReadonlyMap<string, ts.ObjectLiteralExpression>;
}

let found: Sources | undefined;

function sources(): Sources {
  const statements = (): ts.Statement[] => FOLDERS.flatMap(sourceFiles).flatMap(statementsOf);
  found ??= declarationsOf(statements());
  return found;
}

function declarationsOf(statements: readonly ts.Statement[]): Sources {
  const interfaces = statements.filter(ts.isInterfaceDeclaration).map((each) => [each.name.text, each] as const);
  const variables = statements.filter(ts.isVariableStatement).flatMap((each) => each.declarationList.declarations);
  const groups = variables.flatMap(({ name, initializer }) =>
    initializer !== undefined && ts.isObjectLiteralExpression(initializer)
      ? [[name.getText(), initializer] as const]
      : [],
  );
  return { interfaces: new Map(interfaces), groups: new Map(groups) };
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('options.ts'))
    .map((path) => join(ROOT, folder, path));
}

function statementsOf(path: string): readonly ts.Statement[] {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true).statements;
}
