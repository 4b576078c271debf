import type * as TypeScript from 'typescript';
import type { KeyReader } from './key-reader.js';

const PIPES = /\b(?:ParseIntPipe|ParseFloatPipe)\b/;
const VALIDATORS = /^(?:IsInt|IsNumber|IsPositive|IsNegative|Min|Max|IsDivisibleBy)$/;
const NUMBERS = /\b(?:Number|Int|Float)\b/;
const COUNTED = /^Primary(?:Generated)?Column$/;

/** Says why a declaration, or a decorator of one, does not do for keys that are texts; undefined where it does. */
export function breakingDeclaration(node: TypeScript.Node, reader: KeyReader): string | undefined {
  const { ts } = reader;
  if (ts.isDecorator(node)) return ofDecorator(node, reader);
  const isDeclared =
    ts.isPropertyDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isParameter(node) ||
    ts.isVariableDeclaration(node);
  if (!isDeclared || node.type === undefined || !isKeyName(node.name, reader)) return undefined;
  if (ts.isClassLike(node.parent) && reader.isOtherEntity(node.parent, node.name.getText())) return undefined;
  const parts = ts.isUnionTypeNode(node.type) ? node.type.types : [node.type];
  const isNumber = parts.some(({ kind }) => kind === ts.SyntaxKind.NumberKeyword);
  // A union with string takes both already.
  const isText = parts.some(({ kind }) => kind === ts.SyntaxKind.StringKeyword);
  return isNumber && !isText ? 'is declared a number: make it a string' : undefined;
}

function ofDecorator({ expression, parent }: TypeScript.Decorator, reader: KeyReader): string | undefined {
  const { ts } = reader;
  if (!ts.isCallExpression(expression)) return undefined;
  const called = expression.expression.getText();
  const [first, ...others] = expression.arguments;
  const isOfKey = first !== undefined && ts.isStringLiteralLike(first) && reader.names.isKey(first.text);
  if (isOfKey && others.some((each) => PIPES.test(each.getText()) || NUMBERS.test(each.getText()))) {
    return 'reads a key as a number: take ParseIdPipe, or a text';
  }
  if (!ts.isPropertyDeclaration(parent) || !isKeyName(parent.name, reader)) return undefined;
  if (ts.isClassLike(parent.parent) && reader.isOtherEntity(parent.parent, parent.name.getText())) return undefined;
  if (COUNTED.test(called)) return 'makes the key by the database: take @GeneratedSnowflake()';
  if (VALIDATORS.test(called)) return 'wants a key to be a number: take @IsSnowflake(), or @IsNumberString()';
  const isTold = expression.arguments.some((each) => NUMBERS.test(each.getText()));
  return isTold ? 'says that a key is a number' : undefined;
}

function isKeyName(name: TypeScript.Node, reader: KeyReader): boolean {
  const { ts } = reader;
  return (ts.isIdentifier(name) || ts.isStringLiteral(name)) && reader.names.isKey(name.text);
}
