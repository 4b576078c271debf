import { relative } from 'node:path';
import type * as TypeScript from 'typescript';
import { type KeyNames, KeyReader } from './key-reader.js';
import type { Project } from './open-project.js';

const PIPES = /\b(?:ParseIntPipe|ParseFloatPipe)\b/;
const VALIDATORS = /^(?:IsInt|IsNumber|IsPositive|IsNegative|Min|Max|IsDivisibleBy)$/;
const NUMBERS = /\b(?:Number|Int|Float)\b/;
const COUNTED = /^Primary(?:Generated)?Column$/;

const CONVERSIONS = ['Number', 'parseInt', 'parseFloat', 'Number.parseInt', 'Number.parseFloat'];
const TESTS = ['Number.isInteger', 'Number.isSafeInteger', 'Number.isFinite', 'Number.isNaN', 'isNaN', 'isFinite'];
const EXTREMES = ['Math.max', 'Math.min'];

const ROUNDS = 'converts a key to a number: above 2^53 - 1 the last digits are lost';

/** A place in an application's code that breaks when keys become strings. */
export interface BreakingCode {
  /** The path from the folder of the project. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The code at that place, cut off after 80 characters. */
  readonly code: string;
  readonly why: string;
}

/**
 * Finds every such place, in the order of files and lines. Keys are recognised by names and types, so some places may
 * be no keys.
 */
export function breakingCode(project: Project, names: KeyNames): BreakingCode[] {
  const { ts, folder, files } = project;
  const reader = new KeyReader(project, names);
  const found: BreakingCode[] = [];
  for (const file of files) {
    const visit = (node: TypeScript.Node): void => {
      const why = breakingExpression(node, reader) ?? breakingDeclaration(node, reader);
      if (why !== undefined) {
        // The place of a declaration is its name, after its decorators.
        const start = (ts.isPropertyDeclaration(node) || ts.isParameter(node) ? node.name : node).getStart(file);
        const { line, character } = file.getLineAndCharacterOfPosition(start);
        const code = file.text.slice(start, node.end).replace(/\s+/g, ' ');
        const short = code.length > 80 ? `${code.slice(0, 79)}…` : code;
        found.push({ file: relative(folder, file.fileName), line: line + 1, column: character + 1, code: short, why });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column));
}

/** Says why a declaration or its decorator breaks when keys are texts; undefined when it does not. */
function breakingDeclaration(node: TypeScript.Node, reader: KeyReader): string | undefined {
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
  // A union with string takes texts already.
  const isText = parts.some(({ kind }) => kind === ts.SyntaxKind.StringKeyword);
  return isNumber && !isText ? 'is declared as a number: declare it as a string' : undefined;
}

function ofDecorator({ expression, parent }: TypeScript.Decorator, reader: KeyReader): string | undefined {
  const { ts } = reader;
  if (!ts.isCallExpression(expression)) return undefined;
  const called = expression.expression.getText();
  const [first, ...others] = expression.arguments;
  const isOfKey = first !== undefined && ts.isStringLiteralLike(first) && reader.names.isKey(first.text);
  if (isOfKey && others.some((each) => PIPES.test(each.getText()) || NUMBERS.test(each.getText()))) {
    return 'reads a key as a number: use ParseIdPipe, or a string';
  }
  if (!ts.isPropertyDeclaration(parent) || !isKeyName(parent.name, reader)) return undefined;
  if (ts.isClassLike(parent.parent) && reader.isOtherEntity(parent.parent, parent.name.getText())) return undefined;
  if (COUNTED.test(called)) return 'lets the database generate the key: use @GeneratedSnowflake()';
  if (VALIDATORS.test(called)) return 'requires a key to be a number: use @IsSnowflake() or @IsNumberString()';
  const isTold = expression.arguments.some((each) => NUMBERS.test(each.getText()));
  return isTold ? 'describes a key as a number' : undefined;
}

function isKeyName(name: TypeScript.Node, reader: KeyReader): boolean {
  const { ts } = reader;
  return (ts.isIdentifier(name) || ts.isStringLiteral(name)) && reader.names.isKey(name.text);
}

/** Says why an expression breaks when keys are texts; undefined when it does not. */
function breakingExpression(node: TypeScript.Node, reader: KeyReader): string | undefined {
  const { ts } = reader;
  if (ts.isBinaryExpression(node)) return ofOperator(node, reader);
  if (ts.isCallExpression(node)) return ofCall(node, reader);
  if (!ts.isPrefixUnaryExpression(node) || !reader.isKey(node.operand)) return undefined;
  const { PlusToken, MinusToken } = ts.SyntaxKind;
  return node.operator === PlusToken || node.operator === MinusToken ? ROUNDS : undefined;
}

function ofCall(node: TypeScript.CallExpression, reader: KeyReader): string | undefined {
  const { ts } = reader;
  const called = node.expression.getText();
  const isOfKey = node.arguments.some((each) => reader.isKey(each));
  if (CONVERSIONS.includes(called) && isOfKey) return ROUNDS;
  if (TESTS.includes(called) && isOfKey) return 'tests whether a key is a number: the result differs for a string';
  const isOfKeys = node.arguments.some((each) => reader.isKeys(each));
  if (EXTREMES.includes(called) && (isOfKey || isOfKeys))
    return 'computes with keys as numbers: compare them as BigInt';
  const isMapped = node.arguments.some((each) => ts.isIdentifier(each) && CONVERSIONS.includes(each.text));
  const { expression: method } = node;
  if (!ts.isPropertyAccessExpression(method) || !reader.isKeys(method.expression)) return undefined;
  if (method.name.text === 'map' && isMapped) return ROUNDS;
  const isSorting = method.name.text === 'sort' || method.name.text === 'toSorted';
  return isSorting ? 'sorts keys: strings sort character by character, 10 before 9; compare them as BigInt' : undefined;
}

function ofOperator(node: TypeScript.BinaryExpression, reader: KeyReader): string | undefined {
  const { ts } = reader;
  const { left, right, operatorToken } = node;
  const kind = ts.SyntaxKind;
  const operator = operatorToken.kind;
  const equality = [
    ...[kind.EqualsEqualsToken, kind.EqualsEqualsEqualsToken],
    ...[kind.ExclamationEqualsToken, kind.ExclamationEqualsEqualsToken],
  ];
  if (equality.includes(operator)) return ofEquality(left, right, reader) ?? ofEquality(right, left, reader);
  if (![left, right].some((each) => reader.isNumericKey(each))) return undefined;
  const order = [...[kind.LessThanToken, kind.LessThanEqualsToken, kind.GreaterThanToken, kind.GreaterThanEqualsToken]];
  if (order.includes(operator)) {
    return 'orders keys: strings compare character by character, 10 before 9; compare them as BigInt';
  }
  const arithmetic = [kind.MinusToken, kind.AsteriskToken, kind.SlashToken, kind.PercentToken];
  if (arithmetic.includes(operator)) return 'computes with a key: strings become numbers and lose digits';
  const isSum = operator === kind.PlusToken && [left, right].every((each) => reader.mayBeNumber(each));
  return isSum ? 'adds to a key: a string is concatenated' : undefined;
}

function ofEquality(one: TypeScript.Expression, other: TypeScript.Expression, reader: KeyReader): string | undefined {
  const { ts } = reader;
  if (ts.isTypeOfExpression(one) && ts.isStringLiteral(other) && reader.isKey(one.expression)) {
    return other.text === 'number' ? 'tests whether a key is a number: it will be a string' : undefined;
  }
  if (!reader.isNumericKey(one) || reader.isKey(other) || !reader.isNumber(other)) return undefined;
  return 'compares a key with a number: a string never equals one';
}
