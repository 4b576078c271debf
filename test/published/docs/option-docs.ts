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
 * The options that an interface of the libraries declares itself, in its order.
 * @throws Error when there is no such interface, or one of its members lacks a comment, `@range` or `@defaultValue`
 */
export function optionDocs(interfaceName: string): OptionDoc[] {
  const declared = interfaces().get(interfaceName);
  if (declared === undefined) throw new Error(`no interface ${interfaceName} in ${FOLDERS.join(', ')}`);
  return declared.members.filter(ts.isPropertySignature).map((member) => docOf(interfaceName, member));
}

function docOf(interfaceName: string, member: ts.PropertySignature): OptionDoc {
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
  const required = member.questionToken === undefined;
  return {
    name,
    range: said('@range', tag('range')),
    fallback: required ? 'required' : said('@defaultValue', tag('defaultValue')),
    // What follows the first paragraph is for whoever looks the option up in an editor.
    meaning: said('text', ts.getTextOfJSDocComment(comment)?.split('\n\n')[0]),
  };
}

let found: Map<string, ts.InterfaceDeclaration> | undefined;

function interfaces(): Map<string, ts.InterfaceDeclaration> {
  found ??= new Map(FOLDERS.flatMap(sourceFiles).flatMap(interfacesOf));
  return found;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('options.ts'))
    .map((path) => join(ROOT, folder, path));
}

function interfacesOf(path: string): [string, ts.InterfaceDeclaration][] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  return source.statements.filter(ts.isInterfaceDeclaration).map((each) => [each.name.text, each]);
}
