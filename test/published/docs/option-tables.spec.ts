import type { OptionFacts } from '@raindrop/core/internal';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { declaredGroups, groupDocs } from './option-docs';
import { withOptionTables } from './option-tables';

const docs = join(__dirname, '../../../docs');
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));

it.each(pages)('the tables of options in docs/%s are those of the source: npm run docs', (page) => {
  const text = readFileSync(join(docs, page), 'utf8');
  expect(text).toBe(withOptionTables(text));
});

/** A range or a default as a comment begins; undefined where it depends on other options or is told in words. */
function rangeOf({ min, max, names }: OptionFacts): string | undefined {
  if (names !== undefined) return names.map((name) => (/true|false/.test(name) ? name : `\`${name}\``)).join(', ');
  if (typeof min !== 'number' || typeof max !== 'number') return undefined;
  if (max === Number.MAX_SAFE_INTEGER) return `${min} or more`;
  return `${shown(min)}-${shown(max)}`;
}

function defaultOf({ default: fallback, isRequired }: OptionFacts): string | undefined {
  if (isRequired) return 'required';
  if (typeof fallback === 'string') return `\`${fallback}\``;
  return typeof fallback === 'function' || fallback === undefined ? undefined : shown(fallback as number | boolean);
}

function shown(value: number | boolean): string {
  return value.toLocaleString('en-US');
}

/** Whether a comment begins with what a rule says: words may follow, digits may not. */
function begins(comment: string, rule: string): boolean {
  return comment.startsWith(rule) && !/^(?:\d|[,.]\d)/.test(comment.slice(rule.length));
}

it.each(declaredGroups())('the comments of $name say what its rules do', ({ name: group, path }) => {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- every file with a group
  const rules = (require(path) as Readonly<Record<string, Readonly<Record<string, OptionFacts>>>>)[group]!;
  const documented = groupDocs(group);
  expect(documented.map(({ name }) => name)).toEqual(Object.keys(rules));
  for (const { name, range, fallback } of documented) {
    const [legal, standard] = [rangeOf(rules[name]!) ?? range, defaultOf(rules[name]!) ?? fallback];
    expect({ name, range, fallback }).toEqual({
      name,
      range: begins(range, legal) ? range : legal,
      fallback: begins(fallback, standard) ? fallback : standard,
    });
  }
});
