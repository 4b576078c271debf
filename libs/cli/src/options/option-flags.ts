import { layoutOptions, type OptionFacts, readyLayoutOptions } from '@raindrop/core/internal';
import { Option, type Command } from 'commander';

/** A flag of the command line, and the module's option that it stands for. */
interface OptionFlag {
  readonly flag: string;
  readonly option: string;
  readonly about: string;
  readonly isNumber?: boolean;
  /** Says the same as the flag; by default `RAINDROP_` and the flag's name. */
  readonly variable?: string;
}

/** The flags that the options of a layout name. */
const LAYOUT_FLAGS: readonly OptionFlag[] = Object.entries<OptionFacts>({ ...readyLayoutOptions, ...layoutOptions })
  .filter(([, { flag }]) => flag !== undefined)
  .map(([option, { flag, min, max }]) => {
    const [usage, about] = flag!;
    const range = typeof min === 'number' && typeof max === 'number' ? `, ${min} to ${max}` : '';
    return { flag: usage, option, about: about + range, isNumber: min !== undefined };
  });

const URL_FLAG: OptionFlag = {
  ...{ flag: '--url <url>', option: 'dbConfig', variable: 'DATABASE_URL' },
  about: 'the database: mysql://, mariadb://, postgres:// or sqlite:file',
};

const TABLE_FLAG: OptionFlag = {
  flag: '--table <name>',
  option: 'tableName',
  about: 'the worker table (default soc_raindrop_worker)',
};

const ALL = [...LAYOUT_FLAGS, URL_FLAG, TABLE_FLAG].map((each) => ({ ...each, key: optionOf(each).attributeName() }));

/** Lets a command take a layout: from flags, variables or a file. */
export function withLayoutFlags(command: Command): Command {
  const file = "the module's options: JSON, or a module that exports them";
  const flags = [
    ...LAYOUT_FLAGS.map(optionOf),
    new Option('--preset <name>', 'the layout of another system, such as twitter').env('RAINDROP_PRESET'),
    new Option('--preset-option <name=value>', 'an option of the preset, such as nodeBits=8 (repeatable)')
      .argParser(collect)
      .default([]),
    new Option('--config <file>', file).env('RAINDROP_CONFIG'),
  ];
  for (const each of flags) command.addOption(each.helpGroup('Layout:'));
  return command;
}

/** Lets a command find a database and, unless it is about another table, its worker table. */
export function withDatabaseFlags(command: Command, { table }: { readonly table: boolean }): Command {
  for (const each of [URL_FLAG, ...(table ? [TABLE_FLAG] : [])])
    command.addOption(optionOf(each).helpGroup('Database:'));
  return command;
}

/** What flags and variables say, as options of the module. Numbers that are none stay text, for the reader to refuse. */
export function optionsOfFlags(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = ALL.filter(({ key }) => values[key] !== undefined && values[key] !== '');
  return Object.fromEntries(
    given.map(({ key, option, isNumber }) => [option, isNumber ? numberOf(String(values[key])) : values[key]]),
  );
}

/** The flag of an option; undefined for options that only a file can give. */
export function flagOf(option: string): string | undefined {
  return ALL.find((each) => each.option === option)?.flag.split(' ')[0];
}

/** Text of digits as a number, everything else as it is. */
export function numberOf(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

function optionOf({ flag, about, variable }: OptionFlag): Option {
  const option = new Option(flag, about);
  return option.env(variable ?? `RAINDROP_${option.name().toUpperCase().replaceAll('-', '_')}`);
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
