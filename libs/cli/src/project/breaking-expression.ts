import type * as TypeScript from 'typescript';
import type { KeyReader } from './key-reader.js';

const CONVERSIONS = ['Number', 'parseInt', 'parseFloat', 'Number.parseInt', 'Number.parseFloat'];
const TESTS = ['Number.isInteger', 'Number.isSafeInteger', 'Number.isFinite', 'Number.isNaN', 'isNaN', 'isFinite'];
const EXTREMES = ['Math.max', 'Math.min'];

/** Says why an expression does not work with keys that are texts; undefined where it does. */
export function breakingExpression(node: TypeScript.Node, reader: KeyReader): string | undefined {
  const { ts } = reader;
  if (ts.isBinaryExpression(node)) return ofOperator(node, reader);
  if (ts.isCallExpression(node)) return ofCall(node, reader);
  if (!ts.isPrefixUnaryExpression(node) || !reader.isKey(node.operand)) return undefined;
  const { PlusToken, MinusToken } = ts.SyntaxKind;
  return node.operator === PlusToken || node.operator === MinusToken ? ROUNDS : undefined;
}

const ROUNDS = 'makes a number of a key: past 2^53 - 1 the last digits are lost';

function ofCall(node: TypeScript.CallExpression, reader: KeyReader): string | undefined {
  const { ts } = reader;
  const called = node.expression.getText();
  const isOfKey = node.arguments.some((each) => reader.isKey(each));
  if (CONVERSIONS.includes(called) && isOfKey) return ROUNDS;
  if (TESTS.includes(called) && isOfKey) return 'asks whether a key is a number: of a text it is told something else';
  const isOfKeys = node.arguments.some((each) => reader.isKeys(each));
  if (EXTREMES.includes(called) && (isOfKey || isOfKeys)) return 'reckons with keys as numbers: compare them as BigInt';
  const isMapped = node.arguments.some((each) => ts.isIdentifier(each) && CONVERSIONS.includes(each.text));
  const { expression: method } = node;
  if (!ts.isPropertyAccessExpression(method) || !reader.isKeys(method.expression)) return undefined;
  if (method.name.text === 'map' && isMapped) return ROUNDS;
  const isSorting = method.name.text === 'sort' || method.name.text === 'toSorted';
  return isSorting ? 'sorts keys: texts sort letter by letter, 10 before 9; compare them as BigInt' : undefined;
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
    return 'orders keys: texts compare letter by letter, 10 before 9; compare them as BigInt';
  }
  const reckoning = [kind.MinusToken, kind.AsteriskToken, kind.SlashToken, kind.PercentToken];
  if (reckoning.includes(operator)) return 'reckons with a key: texts become numbers, and lose digits';
  const isSum = operator === kind.PlusToken && [left, right].every((each) => reader.mayBeNumber(each));
  return isSum ? 'adds to a key: with a text the digits are put side by side' : undefined;
}

function ofEquality(one: TypeScript.Expression, other: TypeScript.Expression, reader: KeyReader): string | undefined {
  const { ts } = reader;
  if (ts.isTypeOfExpression(one) && ts.isStringLiteral(other) && reader.isKey(one.expression)) {
    return other.text === 'number' ? 'asks whether a key is a number: it is a text then' : undefined;
  }
  if (!reader.isNumericKey(one) || reader.isKey(other) || !reader.isNumber(other)) return undefined;
  return 'compares a key with a number: a text never is one';
}
