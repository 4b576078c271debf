import type * as TypeScript from 'typescript';
import { isNameOf, type OldKeys } from '../adopt/old-key.js';
import type { Project } from './open-project.js';

/** The names that application code uses for the adopted keys. */
export class KeyNames {
  private readonly names: ReadonlySet<string>;
  private readonly tables: readonly string[];

  constructor({ keys, references, loose }: Pick<OldKeys, 'keys' | 'references' | 'loose'>) {
    const columns = [...keys, ...references, ...loose.filter(({ perhaps }) => perhaps !== null)];
    this.names = new Set(columns.map(({ column }) => plain(column)));
    this.tables = keys.map(({ table }) => table);
  }

  /** Whether a variable or property of this name may hold a key: `id`, `order_id`, `orderId`. */
  isKey(name: string): boolean {
    const stem = /^(.+?)_?(?:id|Id|ID)$/.exec(name)?.[1];
    return this.names.has(plain(name)) || (stem !== undefined && this.isTable(stem));
  }

  /** Whether it may hold several keys: `ids`, `orderIds`. */
  isKeys(name: string): boolean {
    return name.endsWith('s') && this.isKey(name.slice(0, -1));
  }

  /** Whether the name, of a table or of an entity's class, is that of a table whose keys are adopted. */
  isTable(name: string): boolean {
    return this.tables.some((table) => isNameOf(name, table) || isNameOf(name.replace(/Entity$/, ''), table));
  }
}

/** Makes `order_id`, `orderId` and `ORDER_ID` the same. */
function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}

/** Tells whether an expression is a key. */
export class KeyReader {
  readonly ts: typeof TypeScript;
  private readonly checker: TypeScript.TypeChecker;

  constructor(
    { ts, checker }: Project,
    readonly names: KeyNames,
  ) {
    this.ts = ts;
    this.checker = checker;
  }

  isKey(node: TypeScript.Expression): boolean {
    const found = this.named(node);
    return found !== undefined && this.names.isKey(found.text) && !this.isOfAnotherTable(found);
  }

  /** Whether it is an array of keys, also in `...ids`. */
  isKeys(node: TypeScript.Expression): boolean {
    const { ts } = this;
    const found = this.named(ts.isSpreadElement(node) ? node.expression : node);
    return found !== undefined && this.names.isKeys(found.text);
  }

  /** Whether it is a key that may be a number, by the type that the compiler knows. */
  isNumericKey(node: TypeScript.Expression): boolean {
    return this.isKey(node) && this.mayBeNumber(node);
  }

  mayBeNumber(node: TypeScript.Expression): boolean {
    const { Any, Unknown, NumberLike, BigIntLike, TypeParameter } = this.ts.TypeFlags;
    const type = this.checker.getTypeAtLocation(node);
    const parts = type.isUnion() ? type.types : [type];
    return parts.some(({ flags }) => (flags & (Any | Unknown | NumberLike | BigIntLike | TypeParameter)) !== 0);
  }

  isNumber(node: TypeScript.Expression): boolean {
    return (this.checker.getTypeAtLocation(node).flags & this.ts.TypeFlags.NumberLike) !== 0;
  }

  /** The last name of `order.id`, `order?.id!`, `row['id']`, `id as number`. */
  private named(node: TypeScript.Expression): TypeScript.Identifier | TypeScript.StringLiteral | undefined {
    const { ts } = this;
    if (ts.isIdentifier(node)) return node;
    if (ts.isPropertyAccessExpression(node)) return ts.isIdentifier(node.name) ? node.name : undefined;
    if (ts.isElementAccessExpression(node)) {
      return ts.isStringLiteral(node.argumentExpression) ? node.argumentExpression : undefined;
    }
    const isWrapped = ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node);
    return isWrapped ? this.named(node.expression) : undefined;
  }

  /** Whether it is the `id` of an entity whose table keeps its keys. */
  private isOfAnotherTable(name: TypeScript.Node): boolean {
    const declared = this.checker.getSymbolAtLocation(name)?.declarations ?? [];
    return declared.some(({ parent }) => this.ts.isClassLike(parent) && this.isOtherEntity(parent, name.getText()));
  }

  /** Whether the class is the entity of a table whose keys stay, and the name that of its key, not of a reference. */
  isOtherEntity(node: TypeScript.ClassLikeDeclaration, name: string): boolean {
    const table = this.tableOf(node);
    return table !== undefined && name.toLowerCase().replace(/\W/g, '') === 'id' && !this.names.isTable(table);
  }

  /** The table that `@Entity()` names, else the name of the class; undefined when the class is no entity. */
  tableOf(node: TypeScript.ClassLikeDeclaration): string | undefined {
    const { ts } = this;
    for (const { expression } of ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : []) {
      if (!ts.isCallExpression(expression) || expression.expression.getText() !== 'Entity') continue;
      const named = expression.arguments
        .flatMap((each): TypeScript.Node[] => (ts.isObjectLiteralExpression(each) ? [...each.properties] : [each]))

        .map((each): TypeScript.Node | undefined => (ts.isPropertyAssignment(each) ? nameIn(ts, each) : each))
        .find((each) => each !== undefined && ts.isStringLiteralLike(each));
      return (named as TypeScript.StringLiteral | undefined)?.text ?? node.name?.text;
    }
    return undefined;
  }
}

function nameIn(ts: typeof TypeScript, property: TypeScript.PropertyAssignment): TypeScript.Node | undefined {
  return ts.isIdentifier(property.name) && property.name.text === 'name' ? property.initializer : undefined;
}
