import { Help, type Command, type Option } from 'commander';

/** Under this heading stand the flags that are a command's own; the others have headings of theirs. */
const OWN = 'Options:';

/** The help of a command begins with its own flags. */
export const OWN_FLAGS_FIRST: Partial<Help> = {
  groupItems<T extends Command | Option>(
    this: Help,
    all: T[],
    visible: T[],
    groupOf: (item: T) => string,
  ): Map<string, T[]> {
    const groups = Help.prototype.groupItems.call(this, all, visible, groupOf as never) as Map<string, T[]>;
    const own = groups.get(OWN);
    return own === undefined ? groups : new Map([[OWN, own], ...groups]);
  },
};

/** What people type most often, for each command. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  raindrop: [
    'raindrop decode 175928847299117063',
    'raindrop plan --start 2026-01-01 --timestamp-bits 33 --worker-bits 10 --end-bits 1',
  ],
  next: ['raindrop next -n 3 --config raindrop.json', 'raindrop next -n 1000000 --format base62 > ids.txt'],
  decode: [
    'raindrop decode 175928847299117063',
    'raindrop decode --preset twitter 1050118621198921728',
    'raindrop next -n 3 | raindrop decode',
  ],
  plan: [
    'raindrop plan --start 2026-01-01 --timestamp-bits 33 --worker-bits 10 --end-bits 1 --nodes 20',
    'raindrop plan --preset tsid --preset-option nodeBits=8',
  ],
  workers: ['raindrop workers --url postgres://localhost/shop', 'raindrop workers --watch'],
  init: [
    'raindrop init --config raindrop.json',
    'raindrop init --config raindrop.json --dry-run',
    'raindrop init --project',
  ],
  fence: ['raindrop fence --config raindrop.json', 'raindrop fence --config raindrop.json --yes'],
  doctor: ['raindrop doctor --config raindrop.json', 'raindrop doctor --config raindrop.json --json'],
  bench: ['raindrop bench', 'raindrop bench --seconds 10 --config raindrop.json'],
  adopt: [
    'raindrop adopt --url sqlite:shop.sqlite --table orders --write src/migrations/adopt-orders.ts',
    'raindrop adopt --from uuid --table users,orders --order-by created_at --write src/migrations/adopt-shop.ts',
  ],
};

/** Adds the examples to the help of a program and its commands. */
export function withExamples(root: Command): Command {
  for (const each of [root, ...root.commands]) {
    const lines = EXAMPLES[each.name()];
    if (lines !== undefined)
      each.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n'));
  }
  return root;
}
