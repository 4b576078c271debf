import type { Audience } from './audiences.js';
import { OptionReader } from './option-reader.js';

/** A value, or how it follows from options of the same group and from what the group is read with. */
type Of<Value, Needs> = Value | ((others: Needs, reader: OptionReader) => Value);

/** The description of an option, for refusals, the command line and the documents. */
export interface OptionFacts {
  /** The services that read it; the others refuse it. Not set for options that are not a service's. */
  readonly readBy?: Audience;
  /** It may hold a password: refusals do not show it. */
  readonly isSecret?: boolean;
  /** Required options have no default and no `?`. */
  readonly isRequired?: boolean;
  /** The flag of the `raindrop` command and its help, without the range: `['--worker-bits <bits>', 'number of worker bits']`. */
  readonly flag?: readonly [flag: string, about: string];
  /** The range of a number; functions where it follows from other options. */
  readonly min?: unknown;
  readonly max?: unknown;
  /** The legal names. */
  readonly names?: readonly string[];
  readonly default?: unknown;
}

/**
 * One option: how it is read and checked, and what is known of it. Its doc comment, which an editor shows, says the same
 * in words: a sentence, `@range` and `@defaultValue`; `test/published/docs` holds the two equal.
 *
 * `Given` is the type of what a caller passes, `Read` of what the check returns. `Needs` holds the other options on
 * which range or default depend; all functions of a rule name the same type.
 */
export interface OptionRule<Given, Read, Needs = unknown> extends OptionFacts {
  /** Returns the checked value, or a legal one in its place after it noted a problem. */
  readonly read: (reader: OptionReader, name: string, others: Needs) => Read;
  /** Never set: holds the type. */
  readonly given?: Given;
}

/** Options by name, declared as `const xOptions = { ... }`. The interface of what callers pass extends {@link OptionsOf}. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each rule has its own types
export type OptionGroup<Needs = any> = Readonly<Record<string, OptionRule<unknown, unknown, Needs>>>;

type GivenOf<Rule> = Rule extends { readonly given?: infer Given } ? Given : never;

/** The input type of a group of options: an optional property each, unless the option is required. */
export type OptionsOf<Group> = {
  [Name in keyof Group as Group[Name] extends { readonly isRequired: true } ? never : Name]?: GivenOf<Group[Name]>;
} & {
  [Name in keyof Group as Group[Name] extends { readonly isRequired: true } ? Name : never]: GivenOf<Group[Name]>;
};

/** The result of reading a group. */
export type ReadOptions<Group> = {
  readonly [Name in keyof Group]: Group[Name] extends { readonly read: (...args: never[]) => infer Read }
    ? Read
    : never;
};

/**
 * Reads and checks all options of a group, with defaults for those that are not given. A rule takes the options that its
 * range depends on out of `others`, which reads them first: `({ leaseMs }) => leaseMs`.
 * @param known what ranges and defaults depend on besides the group's own options
 */
export function readOptions<Group extends OptionGroup<ReadOptions<Group> & Known>, Known extends object = object>(
  reader: OptionReader,
  group: Group,
  known?: Known,
): ReadOptions<Group> {
  const read: Record<string, unknown> = {};
  const others = Object.create(known ?? null) as object;
  for (const [name, rule] of Object.entries(group)) {
    const get = (): unknown => (name in read ? read[name] : (read[name] = rule.read(reader, name, others as never)));
    Object.defineProperty(others, name, { get });
  }
  const all = Object.keys(group).map((name) => [name, others[name as keyof typeof others]] as const);
  return Object.freeze(Object.fromEntries(all)) as ReadOptions<Group>;
}

/**
 * Checks the options of a group that depend on nothing else.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveOptions<Group extends OptionGroup<ReadOptions<Group>>>(
  group: Group,
  options: unknown,
): ReadOptions<Group> {
  const reader = new OptionReader(options);
  const resolved = readOptions<Group, object>(reader, group);
  reader.finish();
  return resolved;
}

function valueOf<Value, Needs>(of: Of<Value, Needs>, others: Needs, reader: OptionReader): Value {
  return typeof of === 'function' ? (of as (others: Needs, reader: OptionReader) => Value)(others, reader) : of;
}

/** Numbers that ranges and defaults depend on, by name. */
export type Numbers<Names extends string> = Readonly<Record<Names, number>>;

interface IntegerOption<Needs> extends OptionFacts {
  readonly min: Of<number, Needs>;
  readonly max: Of<number, Needs>;
  readonly default?: Of<number, Needs>;
  /** The reason for the range, or what to do; appended to the message. */
  readonly hint?: Of<string | undefined, Needs>;
}

/** An integer in a range. Without a default it is undefined when it is not given, unless it is required. */
export function integer<Needs = unknown>(
  rule: IntegerOption<Needs> & { readonly default: Of<number, Needs> },
): OptionRule<number, number, Needs>;
export function integer<Needs = unknown>(
  rule: IntegerOption<Needs> & { readonly isRequired: true },
): OptionRule<number, number, Needs> & { readonly isRequired: true };
export function integer<Needs = unknown>(rule: IntegerOption<Needs>): OptionRule<number, number | undefined, Needs>;
export function integer<Needs>(rule: IntegerOption<Needs>): OptionRule<number, number | undefined, Needs> {
  const { min, max, default: fallback, hint, isRequired } = rule;
  const read = (reader: OptionReader, name: string, others: Needs): number | undefined =>
    fallback === undefined && isRequired !== true && reader.value(name) === undefined
      ? undefined
      : reader.integer(name, {
          min: valueOf(min, others, reader),
          max: valueOf(max, others, reader),
          default: valueOf(fallback, others, reader),
          hint: valueOf(hint, others, reader),
        });
  return { ...rule, read };
}

/** An option that is read in a way of its own. */
export function option<Given, Read, Needs = unknown>(
  read: OptionRule<Given, Read, Needs>['read'],
  facts: OptionFacts & { readonly isRequired: true },
): OptionRule<Given, Read, Needs> & { readonly isRequired: true };
export function option<Given, Read, Needs = unknown>(
  read: OptionRule<Given, Read, Needs>['read'],
  facts?: OptionFacts,
): OptionRule<Given, Read, Needs>;
export function option<Given, Read, Needs>(
  read: OptionRule<Given, Read, Needs>['read'],
  facts: OptionFacts = {},
): OptionRule<Given, Read, Needs> {
  return { ...facts, read };
}

/** A share of a whole, 0 to 1. `of` names the whole, for the message. */
export function share(
  rule: OptionFacts & { readonly default: number; readonly of: string },
): OptionRule<number, number> {
  return { min: 0, max: 1, ...rule, read: (reader, name) => reader.share(name, rule) };
}

/** True or false. */
export function boolean(rule: OptionFacts & { readonly default: boolean }): OptionRule<boolean, boolean> {
  return { names: ['true', 'false'], ...rule, read: (reader, name) => reader.boolean(name, rule.default) };
}

/** One of a few names, in upper or lower case. */
export function oneOf<Name extends string, Needs = unknown>(
  names: readonly Name[],
  rule: OptionFacts & { readonly default: Of<Name, Needs> },
): OptionRule<Name, Name, Needs> {
  return {
    names,
    ...rule,
    read: (reader, name, others) => reader.oneOf(name, names, valueOf(rule.default, others, reader)),
  };
}

interface TextOption extends OptionFacts {
  readonly pattern: RegExp;
  readonly legal: string;
  readonly default?: string;
}

/** A text that fits a pattern. Without a default it is undefined when it is not given. */
export function text(rule: TextOption & { readonly default: string }): OptionRule<string, string>;
export function text(rule: TextOption): OptionRule<string, string | undefined>;
export function text(rule: TextOption): OptionRule<string, string | undefined> {
  const { default: fallback, pattern, legal } = rule;
  const read = (reader: OptionReader, name: string): string | undefined =>
    fallback === undefined && reader.value(name) === undefined
      ? undefined
      : reader.string(name, { fallback: fallback ?? '', pattern, legal });
  return { ...rule, read };
}

/** A function, or undefined. */
export function handler<Handler>(rule: OptionFacts = {}): OptionRule<Handler, Handler | undefined> {
  const read = (reader: OptionReader, name: string): Handler | undefined => {
    const given = reader.value(name);
    if (given !== undefined && typeof given !== 'function') reader.problem(name, given, 'must be a function');
    return given as Handler | undefined;
  };
  return { ...rule, read };
}

/** False, which is the default, true, or an object with the options of an inner group; undefined for false. */
export function switchable<Inner extends OptionGroup>(
  inner: Inner,
  rule: OptionFacts = {},
): OptionRule<boolean | OptionsOf<Inner>, ReadOptions<Inner> | undefined, NeedsOf<Inner>> {
  const read = (reader: OptionReader, name: string, others: NeedsOf<Inner>): ReadOptions<Inner> | undefined => {
    const given = reader.value(name);
    if (given === undefined || given === false) return undefined;
    if (given !== true && (typeof given !== 'object' || given === null || Array.isArray(given))) {
      reader.problem(name, given, `must be true, false or { ${Object.keys(inner).join(', ')} }`);
      return undefined;
    }
    return reader.nested(name, given === true ? {} : given, (its) => readOptions(its, inner, others as object));
  };
  return { ...rule, read };
}

type NeedsOf<Group> = Group[keyof Group] extends OptionRule<unknown, unknown, infer Needs> ? Needs : never;
