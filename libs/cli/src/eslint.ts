/**
 * `@raindrop/cli/eslint`: a plugin for typescript-eslint. Its one rule keeps code that rounds IDs out of an application,
 * in each run of CI. `adopt --project` lists such code once, and goes by the names of the adopted keys.
 *
 * TypeScript itself refuses `+id` of a bigint, `parseInt(id)` of a bigint, and comparisons of IDs with numbers. The rule
 * `no-loss-of-precision` of ESLint refuses literals such as `9007199254740993`.
 */
import type { Rule } from 'eslint';
import type * as TypeScript from 'typescript';
import { projectTypescript } from '@raindrop/node/nest-project';

/** Names, in the declaration of a property, parameter or column, which say that it holds IDs. */
const DECLARING =
  /\b(?:GeneratedSnowflake|snowflakeColumn|SnowflakePrimaryKey|IsSnowflake|PublicId|ApiSnowflake|ParseIdPipe)\b/;
/** Columns of Drizzle, which are values. */
const COLUMN = /\bsnowflake(?:Reference)?\(/;
/** Methods and functions that return an ID. */
const MAKING = /^(?:next(?:Id|String)(?:Async)?|nextSharded(?:Async)?|toId)$/;
/** Names of bigints that are IDs. Clients that are generated from a schema, such as Prisma's, declare them so. */
const NAMED = /^(?:id|ID|\w+(?:Id|ID|_id))$/;
const CONVERSION = /^(?:globalThis\.)?(?:Number|(?:Number\.)?parse(?:Int|Float))$/;

/** What the rule reads of the services of typescript-eslint's parser. */
interface ParserServices {
  readonly program: TypeScript.Program | null;
  readonly esTreeNodeToTSNodeMap: { get(node: unknown): TypeScript.Node };
}

const noIdAsNumber: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'refuse conversions of IDs to numbers' },
    messages: {
      rounds:
        '{{call}} converts an ID to a number: above 2^53 - 1 the last digits are lost. Keep it as a string or a bigint.',
    },
    schema: [],
  },
  create(context) {
    const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices as Partial<ParserServices>;
    if (!program || esTreeNodeToTSNodeMap === undefined) {
      throw new Error(
        'raindrop/no-id-as-number reads types: use the parser of typescript-eslint with parserOptions.projectService: true',
      );
    }
    const reader = new IdReader(projectTypescript(context.cwd), program.getTypeChecker());
    const check = (node: Rule.Node, converted: unknown, call: string): void => {
      if (reader.isId(esTreeNodeToTSNodeMap.get(converted))) {
        context.report({ node, messageId: 'rounds', data: { call } });
      }
    };
    return {
      CallExpression(node) {
        const called = context.sourceCode.getText(node.callee);
        const [converted] = node.arguments;
        if (converted !== undefined && CONVERSION.test(called)) check(node, converted, `${called}()`);
      },
      UnaryExpression(node) {
        if (node.operator === '+') check(node, node.argument, '+');
      },
    };
  },
};

/** Tells whether an expression is an ID, by its type and by the declarations that it comes from. */
class IdReader {
  constructor(
    private readonly ts: typeof TypeScript,
    private readonly checker: TypeScript.TypeChecker,
  ) {}

  isId(node: TypeScript.Node): boolean {
    const types = this.typesOf(node);
    if (types.some((each) => this.isTypedId(each))) return true;
    // A number is no ID that could still lose digits: `nextNumber()`, `@GeneratedSnowflake({ as: 'number' })`.
    const { BigIntLike, StringLike } = this.ts.TypeFlags;
    const isBigInt = types.some(({ flags }) => (flags & BigIntLike) !== 0);
    if (!isBigInt && !types.some(({ flags }) => (flags & StringLike) !== 0)) return false;
    return this.comesFromId(node, isBigInt, new Set());
  }

  /** `order_${string}`, of `typedId('order')`. */
  private isTypedId(type: TypeScript.Type): boolean {
    if ((type.flags & this.ts.TypeFlags.TemplateLiteral) === 0) return false;
    return (type as TypeScript.TemplateLiteralType).texts.some((text) => text.endsWith('_'));
  }

  /** The members of a union such as `bigint | null`, without null and undefined. */
  private typesOf(node: TypeScript.Node): readonly TypeScript.Type[] {
    const type = this.checker.getNonNullableType(this.checker.getTypeAtLocation(node));
    return type.isUnion() ? type.types : [type];
  }

  private comesFromId(node: TypeScript.Node, isBigInt: boolean, seen: Set<TypeScript.Symbol>): boolean {
    const { ts, checker } = this;
    if (ts.isCallExpression(node)) return MAKING.test(checker.getSymbolAtLocation(node.expression)?.name ?? '');
    const isWrapped =
      ts.isAwaitExpression(node) ||
      ts.isParenthesizedExpression(node) ||
      ts.isNonNullExpression(node) ||
      ts.isAsExpression(node) ||
      ts.isSatisfiesExpression(node);
    if (isWrapped) return this.comesFromId(node.expression, isBigInt, seen);
    const symbol = checker.getSymbolAtLocation(ts.isElementAccessExpression(node) ? node.argumentExpression : node);
    if (symbol === undefined || seen.has(symbol)) return false;
    seen.add(symbol);
    if (isBigInt && NAMED.test(symbol.name)) return true;
    return symbol.declarations?.some((each) => this.declaresId(each, isBigInt, seen)) ?? false;
  }

  private declaresId(node: TypeScript.Declaration, isBigInt: boolean, seen: Set<TypeScript.Symbol>): boolean {
    const { ts } = this;
    const decorators = ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : [];
    if (decorators.some((each) => DECLARING.test(each.getText()))) return true;
    if (ts.isBindingElement(node)) {
      // `const { id } = order` is declared where the property of `order` is.
      const name = (node.propertyName ?? node.name).getText();
      const property = this.checker.getTypeAtLocation(node.parent).getProperty(name);
      return property?.declarations?.some((each) => this.declaresId(each, isBigInt, seen)) ?? false;
    }
    if (!(ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)) || node.initializer === undefined)
      return false;
    // A column of Drizzle, `id: snowflake().primaryKey()`, is what the row's `id` is declared by.
    return COLUMN.test(node.initializer.getText()) || this.comesFromId(node.initializer, isBigInt, seen);
  }
}

/** Without the types of ESLint, which is no dependency of the command: servers would install it. */
interface IdRule {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- ESLint and typescript-eslint each have types of their own
  create(context: any): Record<string, any>;
}

const meta = { name: '@raindrop/cli' };
const rules: Record<'no-id-as-number', IdRule> = { 'no-id-as-number': noIdAsNumber };
const configs = {
  recommended: {
    name: 'raindrop/recommended',
    plugins: { raindrop: { meta, rules } },
    rules: { 'raindrop/no-id-as-number': 'error' } as const,
  },
};

// One name each: Node finds the names for `import { configs }` by reading this line.
export = { meta, rules, configs };
