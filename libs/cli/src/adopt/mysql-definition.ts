/** A column as SHOW CREATE TABLE writes it. */
export interface DefinedColumn {
  readonly name: string;
  /** Its type when that is an integer: `int(10) unsigned`. */
  readonly type: string | undefined;
  /** All that follows the type, with the blank in front: `MODIFY` drops what is not said again. */
  readonly rest: string;
  /** The same, without the word by which the database makes the values. */
  readonly restOfOurs: string;
  /** Whether the database makes the values. */
  readonly isGenerated: boolean;
  /** The expression from which the column is computed. */
  readonly computedFrom: string | undefined;
  /** Whether its default is an expression, which may make values as well. */
  readonly hasComputedDefault: boolean;
}

const TEXT = String.raw`'(?:[^'\\]|\\.|'')*'`;

/** Texts, names and comments are one token each, whatever is in them. */
const TOKEN = new RegExp(`${TEXT}|"(?:[^"\\\\]|\\\\.|"")*"|\`(?:[^\`]|\`\`)*\`|/\\*.*?\\*/|\\w+|\\s+|.`, 'gsu');

const INTEGER = /^(?:tiny|small|medium|big)?int(?:\(\d+\))?(?: unsigned)?(?: zerofill)?/i;

const CONSTANT = new RegExp(`^\\s*(?:${TEXT}|-?[\\d.]+|NULL)(?=\\s|$)`, 'is');

/** The columns of a table, from what SHOW CREATE TABLE says while `sql_mode` is empty. */
export function definedColumns(createTable: string): DefinedColumn[] {
  const body = outerTokens(createTable).find((token) => token.startsWith('(')) ?? '()';
  return partsOf(body.slice(1, -1)).flatMap((part): DefinedColumn[] => {
    const [name = '', ...definition] = part;
    // Keys and constraints begin with a word.
    if (!name.startsWith('`')) return [];
    const text = definition.join('').trimStart();
    const type = INTEGER.exec(text)?.[0];
    const rest = text.slice(type?.length ?? 0).trimEnd();
    const tokens = outerTokens(rest);
    const after = (word: string): readonly string[] | undefined =>
      tokens.includes(word) ? tokens.slice(tokens.indexOf(word) + 1) : undefined;
    const fallback = after('DEFAULT')?.join('');
    const counting = tokens.indexOf('AUTO_INCREMENT');
    return [
      {
        ...{ name: name.slice(1, -1).replaceAll('``', '`'), type: type?.toLowerCase(), rest },
        // Without the blank in front of it, too.
        restOfOurs: counting === -1 ? rest : tokens.filter((_, at) => at !== counting && at !== counting - 1).join(''),
        isGenerated: counting !== -1,
        computedFrom: after('AS')?.find((token) => token.startsWith('(')),
        hasComputedDefault: fallback !== undefined && !CONSTANT.test(fallback),
      },
    ];
  });
}

/** Divided at the commas, each as tokens that begin with no blank. */
function partsOf(body: string): string[][] {
  const parts: string[][] = [[]];
  for (const token of outerTokens(body)) {
    if (token === ',') parts.push([]);
    else if (parts.at(-1)!.length > 0 || token.trim() !== '') parts.at(-1)!.push(token);
  }
  return parts;
}

/** The tokens of a text; what stands in parentheses is one. */
function outerTokens(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (depth > 0) found[found.length - 1] += token;
    else found.push(token);
    if (token === '(') depth++;
    if (token === ')') depth--;
  }
  return found;
}
