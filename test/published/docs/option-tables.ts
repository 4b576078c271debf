import { OPTION_TABLE } from '../../../libs/node/src/options/option-table.js';
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
    return [`${begin}\n| options | for |`, '|---|---|', ...OPTION_TABLE.map(purposeRow), end].join('\n');
  });
}

function purposeRow({ options, purpose }: (typeof OPTION_TABLE)[number]): string {
  const code = (text: string): string => `\`${text}\``;
  return `| ${options.map(code).join(', ')} | ${purpose.replace(/(?:idMode: |workerIdAssigner: )?'\w+'|\w+\(\)/g, code)} |`;
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
