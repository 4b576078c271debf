import { createRequire } from 'node:module';
import { Command, Help, type Option } from 'commander';
import type { ExitCode } from './input-error.js';
import type { CliOutput } from './io/cli-output.js';
import { withDatabaseFlags, withLayoutFlags } from './options/option-flags.js';
import type { FlagValues } from './options/module-options.js';

/** Carries out a command; answers with an exit code where that is not 0. */
type Work = (args: readonly string[], flags: FlagValues, output: CliOutput) => Promise<ExitCode | void>;

const { version: VERSION } = createRequire(__filename)('../package.json') as { version: string };

/** The heading of a command's own flags in its help. Flags that several commands share have other headings. */
const OWN = 'Options:';

/** Makes the help of a command begin with its own flags. */
const OWN_FLAGS_FIRST: Partial<Help> = {
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

/**
 * Declares all commands with their flags. The code of a command is loaded when it is called: `decode` loads no
 * database.
 * @param run called with the command, its arguments and its flags
 */
export function program(run: (work: Work, args: readonly string[], flags: FlagValues) => Promise<void>): Command {
  const root = new Command('raindrop')
    .description('Issue IDs and take them apart, plan a layout, look after the worker table.')
    .version(VERSION, '-V, --version', "this package's version")
    .showHelpAfterError('(raindrop --help shows what there is)')
    .helpCommand('help [command]', 'what a command does and takes')
    .configureHelp(OWN_FLAGS_FIRST);
  const add = (usage: string, about: string, work: Work): Command => {
    const command = root.command(usage).description(about).option('--json', 'the result as JSON');
    return command.action((...given: unknown[]) => {
      const flags = given.at(-2) as FlagValues;
      const args = given.slice(0, -2).flat().map(String);
      return run(work, args, flags);
    });
  };
  const database = { table: true };

  withDatabaseFlags(
    withLayoutFlags(
      add('next', 'lease a worker id, issue IDs, give it back', async (_, flags, output) =>
        (await import('./commands/next.js')).next(flags, output),
      ),
    ),
    database,
  )
    .option('-n, --count <count>', 'how many', '1')
    .option('--code <code>', 'the business kind, with a sequence of its own')
    .option('--format <codec>', 'how they are written: decimal, hex, base32, base62, ...', 'decimal');

  withLayoutFlags(
    add(
      'decode [id...]',
      'say what IDs hold, of arguments or stdin: time, worker, sequence',
      async (args, flags, output) => (await import('./commands/decode.js')).decode(args, flags, output),
    ),
  )
    .option('--format <codec>', 'how they are written: decimal, hex, base32, base62, ... (default: recognised)')
    .option('--original', "with --preset keyWorker: IDs of KeyWorker's own epoch");

  withLayoutFlags(
    add('plan', 'say what a layout comes to: lifetime, rate, workers', async (_, flags, output) =>
      (await import('./commands/plan.js')).plan(flags, output),
    ),
  )
    .option('--need <ids>', 'IDs a second that one node must reach')
    .option('--nodes <count>', 'how many nodes will run')
    .option('--processes <count>', 'advise a layout, for so many processes (10 unless given)')
    .option('--rate <ids>', '... of which each issues so many IDs in its busiest second (1000)')
    .option('--years <years>', '... for so many years (30)')
    .option('--numbers', '... all that time exact as JavaScript numbers');

  withDatabaseFlags(
    withLayoutFlags(
      add(
        'sql',
        'print SQL that reads IDs, or the partitions of a table by the time of its IDs',
        async (_, flags, output) => (await import('./commands/sql.js')).sql(flags, output),
      ),
    ),
    { table: false },
  )
    .option('--db <kind>', 'postgres, mysql, mariadb or sqlite (default: that of --url)')
    .option('--table <name>', 'print generated columns of this table, or its partitions; several with commas')
    .option('--column <name>', 'its column with IDs; one name for all tables, or one for each', 'id')
    .option('--partitions <period>', 'partitions of a month, week or day')
    .option('--from <date>', '... the first one, such as 2026-01 or 2026-01-05 (UTC)')
    .option('--to <date>', '... where the last one ends')
    .option(
      '--ahead <count>',
      '... so many more for a table with partitions, from the next one on unless --from is given',
    );

  withDatabaseFlags(
    withLayoutFlags(
      add('workers', 'show who holds which worker id', async (_, flags, output) =>
        (await import('./commands/workers.js')).workers(flags, output),
      ),
    ),
    database,
  )
    .option('--all', 'rows that were never used as well')
    .option('--watch [seconds]', 'show them again and again, every 2 seconds or as often as that');

  withDatabaseFlags(
    withLayoutFlags(
      add('init', 'create the worker table and its rows', async (_, flags, output) =>
        (await import('./commands/init.js')).init(flags, output),
      ),
    ),
    database,
  )
    .option('--project [folder]', 'write module, entity and migration into a Nest application instead')
    .option('--dry-run', 'print the SQL, or the files; change nothing');

  withDatabaseFlags(
    withLayoutFlags(
      add('fence', 'make a worker table safe that was restored from a backup', async (_, flags, output) =>
        (await import('./commands/workers.js')).fence(flags, output),
      ),
    ),
    database,
  ).option('--yes', 'do it');

  withDatabaseFlags(
    withLayoutFlags(
      add('doctor', 'check database, rights, clocks, durability, layout and table', async (_, flags, output) =>
        (await import('./commands/doctor.js')).doctor(flags, output),
      ),
    ),
    database,
  ).option('--app <module>', "the application's module that exports its database: whether IDs keep their digits there");

  withDatabaseFlags(
    withLayoutFlags(
      add('bench', 'measure IDs a second on this machine', async (_, flags, output) =>
        (await import('./commands/bench.js')).bench(flags, output),
      ),
    ),
    database,
  ).option('--seconds <seconds>', 'how long', '4');

  withDatabaseFlags(
    withLayoutFlags(
      add('adopt', 'plan how tables with old keys go over to new IDs', async (_, flags, output) =>
        (await import('./commands/adopt.js')).adopt(flags, output),
      ),
    ),
    { table: false },
  )
    .requiredOption('--table <name>', 'the table whose keys are to come from Raindrop; several with commas')
    .option('--column <name>', 'its key; one name for all tables, or one for each', 'id')
    .option('--need <ids>', 'IDs a second that one node must reach')
    .option('--nodes <count>', 'how many nodes will run')
    .option('--from <kind>', 'what the old keys are: number or uuid', 'number')
    .option(
      '--order-by <column>',
      'with --from uuid: the column that says when a row was made; one for all tables, or one for each',
    )
    .option('--project <folder>', 'the application: its code that breaks when keys become texts is listed')
    .option('--write <file>', 'write the migration to a new file; with --from uuid two, the other one ending in -swap');

  return withExamples(root);
}

/** The examples at the end of the help, by command. */
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
  sql: [
    'raindrop sql --db postgres --layout number',
    'raindrop sql --db postgres --layout number --table orders --partitions month --from 2026-01 --to 2027-01',
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
function withExamples(root: Command): Command {
  for (const each of [root, ...root.commands]) {
    const lines = EXAMPLES[each.name()];
    if (lines !== undefined)
      each.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n'));
  }
  return root;
}
