import { layoutOptions, type OptionFacts, type OptionGroup, readyLayoutOptions } from '@raindrop/core/internal';
import { commonOptions } from '@raindrop/node/internal';
import { Option, type Command } from 'commander';

/** A flag of the command line, and the module's option that it sets. */
interface OptionFlag {
  /** The option's name. */
  readonly option: string;
  readonly flag: Option;
  readonly isNumber: boolean;
}

/** Flags of some commands that are options as well. */
const NEEDS = { expectedNodes: 'nodes', expectedIdsPerSecond: 'need' };

/** The variables whose names do not follow from the flag's. */
const VARIABLES: Readonly<Record<string, string>> = { url: 'DATABASE_URL' };

const LAYOUT_FLAGS = flagsOf({ ...readyLayoutOptions, ...layoutOptions });

/** `--url` and `--table`. */
const DATABASE_FLAGS = flagsOf(commonOptions).reverse();

const ALL = [...LAYOUT_FLAGS, ...DATABASE_FLAGS];

/** Lets a command take a layout: from flags, variables or a file. */
export function withLayoutFlags(command: Command): Command {
  const flags = [
    ...LAYOUT_FLAGS.map(({ flag }) => flag),
    new Option('--preset <name>', 'layout of another system, such as twitter').env('RAINDROP_PRESET'),
    new Option('--preset-option <name=value>', 'option of the preset, such as nodeBits=8 (repeatable)')
      .argParser(collect)
      .default([]),
    new Option('--config <file>', "file with the module's options: JSON, or a module that exports them").env(
      'RAINDROP_CONFIG',
    ),
  ];
  for (const each of flags) command.addOption(each.helpGroup('Layout:'));
  return command;
}

/** Lets a command find a database and, unless it is about another table, its worker table. */
export function withDatabaseFlags(command: Command, { table }: { readonly table: boolean }): Command {
  for (const { option, flag } of DATABASE_FLAGS)
    if (table || option !== 'tableName') command.addOption(flag.helpGroup('Database:'));
  return command;
}

/** The same for a command that takes several databases: `--url` may be repeated. */
export function withSeveralDatabases(command: Command): Command {
  for (const { option, flag } of flagsOf(commonOptions).reverse()) {
    if (option === 'dbConfig') {
      flag.description += ' (repeatable: compares them)';
      flag.argParser((value: string, before?: string | readonly string[]) =>
        before === undefined ? value : [before, value].flat(),
      );
    }
    command.addOption(flag.helpGroup('Database:'));
  }
  return command;
}

/** What flags and variables say, as options of the module. Numbers that are none stay text, for the reader to refuse. */
export function optionsOfFlags(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = ALL.map(({ option, flag, isNumber }) => {
    const value = values[flag.attributeName()];
    return [option, isNumber && typeof value === 'string' ? numberOf(value) : value] as const;
  });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== ''));
}

/**
 * What the user calls each option, for messages: by the flag that was typed, or by the variable that was set. Where no
 * file can give the others, they are called by their flags as well; options of a file keep their names.
 */
export function namesGiven(command: Command): ReadonlyMap<string, string> {
  const hasFile = Boolean(command.getOptionValue('config'));
  const names = ALL.flatMap(({ option, flag }): [string, string][] => {
    const key = flag.attributeName();
    const source = command.getOptionValue(key) === '' ? undefined : command.getOptionValueSource(key);
    if (source === 'env') return [[option, flag.envVar!]];
    return source === 'cli' || !hasFile ? [[option, flag.long!]] : [];
  });
  const needs = Object.entries(NEEDS).filter(([, name]) => command.getOptionValueSource(name) === 'cli');
  return new Map([...names, ...needs.map(([option, name]) => [option, `--${name}`] as const)]);
}

/** Text of digits as a number, everything else as it is. */
export function numberOf(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** The parts of messages that are advice for code: every value of a flag or a variable is a text. */
const FOR_CODE: readonly (readonly [RegExp, string])[] = [
  [/, not a string\b[^;]*/, ''],
  [/ or a Layout from createLayout\(\)/, '; for that of another system use --preset'],
  [/, a Date or Unix ms/, ' or Unix ms'],
];

/** The message about an option without its advice for code. */
export function withoutCode(message: string): string {
  return FOR_CODE.reduce((text, [code, instead]) => text.replace(code, instead), message);
}

/** The flags that a group of options names. */
function flagsOf(group: OptionGroup): OptionFlag[] {
  return Object.entries<OptionFacts>(group).flatMap(([option, { flag, min, max }]) => {
    if (flag === undefined) return [];
    const range = typeof min === 'number' && typeof max === 'number' ? `, ${min} to ${max}` : '';
    const made = new Option(flag[0], flag[1] + range);
    const variable = VARIABLES[made.name()] ?? `RAINDROP_${made.name().toUpperCase().replaceAll('-', '_')}`;
    return [{ option, flag: made.env(variable), isNumber: min !== undefined }];
  });
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
