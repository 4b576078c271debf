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
const FOLDERS = ['libs/core/src', 'libs/node/src', 'libs/typeorm/src', 'libs/orm/src', 'libs/nestjs/src'];

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

/** A group of rules in the sources. */
export interface DeclaredGroup {
  readonly name: string;
  readonly path: string;
}

/** Every group that an interface extends, also in part: `Omit<OptionsOf<typeof group>, ...>`. */
export function declaredGroups(): DeclaredGroup[] {
  const { interfaces, groups } = sources();
  const extended = [...interfaces.values()].flatMap(({ heritageClauses = [] }) =>
    heritageClauses.flatMap((clause) => [...clause.getText().matchAll(/\bOptionsOf<typeof (\w+)>/g)]),
  );
  const names = new Set(extended.map((match) => match[1]!));
  return [...names].map((name) => ({ name, path: groups.get(name)!.getSourceFile().fileName }));
}

/** The groups of `OptionsOf<typeof group>`. */
function groupsOf({ expression, typeArguments = [] as never }: ts.ExpressionWithTypeArguments): string[] {
  if (expression.getText() !== 'OptionsOf') return [];
  return typeArguments.filter(ts.isTypeQueryNode).map(({ exprName }) => exprName.getText());
}

/** What the comments of a group's rules say, with those of groups that it spreads. */
export function groupDocs(group: string): OptionDoc[] {
  return rulesOf(group).map((rule) => docOf(group, rule));
}

function rulesOf(group: string): ts.PropertyAssignment[] {
  const declared = sources().groups.get(group);
  if (declared === undefined) throw new Error(`no group of options ${group} in ${FOLDERS.join(', ')}`);
  const rules = declared.properties.flatMap((each) => {
    if (ts.isSpreadAssignment(each)) return rulesOf(each.expression.getText());
    return ts.isPropertyAssignment(each) ? [each] : [];
  });
  // A rule replaces one of the same name that was spread before it.
  return [...new Map(rules.map((rule) => [rule.name.getText(), rule])).values()];
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
    // The paragraphs after the first are for readers who look the option up in an editor.
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
    .filter((path) => path.endsWith('.ts') && !path.endsWith('spec.ts'))
    .map((path) => join(ROOT, folder, path))
    .filter((path) => path.endsWith('options.ts') || readFileSync(path, 'utf8').includes('OptionsOf<'));
}

function statementsOf(path: string): readonly ts.Statement[] {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true).statements;
}
