import { AUDIENCES, type OptionFacts } from '@raindrop/core/internal';
import { serviceOptions } from '../../../libs/node/src/options/service-options.js';
import { optionDocs, type OptionDoc } from './option-docs';

const TABLE = /(<!-- options: ([\w., ]+) -->\n)[^]*?(\n<!-- \/options -->)/g;
const PURPOSES = /(<!-- purposes of options -->\n)[^]*?(\n<!-- \/purposes of options -->)/;

/**
 * A Markdown text with its tables of options made anew from the doc comments in the source.
 *
 * A table stands between `<!-- options: GeneratorOptions, SnowflakeModuleOptions.clock -->` and `<!-- /options -->`: all
 * options of an interface, or one of them. The table of what all options are for stands between
 * `<!-- purposes of options -->` and `<!-- /purposes of options -->`.
 */
export function withOptionTables(markdown: string): string {
  const tables = markdown.replace(TABLE, (_, begin: string, names: string, end: string) => {
    const rows = names.split(', ').flatMap(named).map(row);
    return [`${begin}\n| option | range | default | meaning |`, '|---|---|---|---|', ...rows, end].join('\n');
  });
  return tables.replace(PURPOSES, (_, begin: string, end: string) => {
    return [`${begin}\n| options | for |`, '|---|---|', ...purposeRows(), end].join('\n');
  });
}

/** A row for each kind of service that reads options of its own. */
function purposeRows(): string[] {
  const code = (text: string): string => `\`${text}\``;
  return Object.entries(AUDIENCES).map(([audience, { purpose }]) => {
    const read = Object.entries<OptionFacts>(serviceOptions).filter(([, { readBy }]) => readBy === audience);
    const kind = purpose.replace(/(?:idMode: |workerIdAssigner: )?'\w+'|\w+\(\)/g, code);
    return `| ${read.map(([name]) => code(name)).join(', ')} | ${kind} |`;
  });
}

/** `GeneratorOptions`, or `SnowflakeModuleOptions.clock`. */
function named(name: string): OptionDoc[] {
  const [interfaceName, option] = name.split('.');
  const docs = optionDocs(interfaceName!);
  if (option === undefined) return docs;
  const doc = docs.find((each) => each.name === option);
  if (doc === undefined) throw new Error(`${interfaceName} has no option ${option}`);
  return [doc];
}

function row({ name, range, fallback, meaning }: OptionDoc): string {
  return `| \`${name}\` | ${range} | ${fallback} | ${linked(meaning.replace(/\.$/, ''))} |`;
}

/** `docs/threads.md`, as the source names it, is a link where the table stands. */
function linked(text: string): string {
  return text.replace(/docs\/([\w-]+\.md)/g, '[$1]($1)');
}
