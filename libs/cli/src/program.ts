import { createRequire } from 'node:module';
import { Command, Help, Option } from 'commander';
import type { ExitCode } from './input-error.js';
import type { CliOutput } from './io/cli-output.js';
import { withDatabaseFlags, withLayoutFlags, withSeveralDatabases } from './options/option-flags.js';
import type { FlagValues } from './options/module-options.js';
import { withFunctionFlags } from './options/function-flags.js';

const OLDEST = 'the time of the oldest row that will ever get an ID: the layout must not begin later';

/** Carries out a command; answers with an exit code where that is not 0. */
type Work = (args: readonly string[], flags: FlagValues, output: CliOutput) => Promise<ExitCode | void>;

/** Runs the work of a command with its arguments and flags. */
type Run = (work: Work, args: readonly string[], flags: FlagValues, command: Command) => Promise<void>;

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
 */
export function program(run: Run): Command {
  const root = new Command('raindrop')
    .description('Issue and read IDs, plan layouts, inspect and repair the worker table.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp(OWN_FLAGS_FIRST);
  const add = (usage: string, about: string, work: Work): Command => {
    const command = root.command(usage).description(about).option('--json', 'print the result as JSON');
    return command.action((...given: unknown[]) => {
      const flags = given.at(-2) as FlagValues;
      const args = given.slice(0, -2).flat().map(String);
      return run(work, args, flags, command);
    });
  };
  const database = { table: true };

  withDatabaseFlags(
    withLayoutFlags(
      add('next', 'lease a worker id, issue IDs, release the worker id', async (_, flags, output) =>
        (await import('./commands/next.js')).next(flags, output),
      ),
    ),
    database,
  )
    .option('-n, --count <count>', 'number of IDs', '1')
    .option('--code <code>', 'business kind; each kind has its own sequence')
    .option('--format <codec>', 'text format of the IDs: decimal, hex, base32, base62, ...', 'decimal');

  withLayoutFlags(
    add('decode [id...]', 'read IDs from arguments or stdin: time, worker id, sequence', async (args, flags, output) =>
      (await import('./commands/decode.js')).decode(args, flags, output),
    ),
  )
    .addOption(new Option('--short', 'print one line for each ID').conflicts('json'))
    .option('--format <codec>', 'text format of the IDs: decimal, hex, base32, base62, ... (default: recognised)')
    .option('--original', "with --preset keyWorker: the IDs use KeyWorker's own epoch");

  withLayoutFlags(
    add('plan', 'show the lifetime, rate and worker ids of a layout, or recommend a layout', async (_, flags, output) =>
      (await import('./commands/plan.js')).plan(flags, output),
    ),
  )
    .option('--need <ids>', 'IDs per second that one node must issue')
    .option('--nodes <count>', 'number of nodes')
    .option('--processes <count>', 'recommend a layout for this number of processes (default: 10)')
    .option('--rate <ids>', 'recommend a layout: IDs that one process issues in its busiest second (default: 1000)')
    .option('--years <years>', 'recommend a layout that lasts this long (default: 30)')
    .option('--numbers', 'recommend a layout whose IDs are exact JavaScript numbers');

  const reading = withDatabaseFlags(
    withLayoutFlags(
      add(
        'sql',
        'print SQL that reads IDs, the partitions of a table by the time of its IDs, or a function that makes IDs',
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
    )
    .option(
      '--keep <count>',
      '... print what a scheduler runs every day: it adds those of --ahead, and detaches those before the last so many; or all',
    )
    .option('--drop', '... with --keep: drop them, with their rows (MySQL and MariaDB cannot detach)')
    .addOption(
      new Option(
        '--issue',
        'print a function of PostgreSQL that makes IDs, for rows that no process inserts; --table is the worker table then',
      ).conflicts(['column', 'partitions', 'from', 'to', 'ahead', 'keep', 'drop']),
    );
  withFunctionFlags(reading, '... with --issue:');

  withDatabaseFlags(
    withLayoutFlags(
      add('workers', 'show which process holds each worker id', async (_, flags, output) =>
        (await import('./commands/workers.js')).workers(flags, output),
      ),
    ),
    database,
  )
    .option('--all', 'include rows that were never used')
    .option('--watch [seconds]', 'refresh every 2 seconds, or at this interval');

  withDatabaseFlags(
    withLayoutFlags(
      add('who <id>', 'name the process that issued an ID (services with workerHistory)', async (args, flags, output) =>
        (await import('./commands/who.js')).who(args, flags, output),
      ),
    ),
    database,
  ).option('--format <codec>', 'text format of the ID: decimal, hex, base32, base62, ...', 'decimal');

  const making = withDatabaseFlags(
    withLayoutFlags(
      add(
        'init',
        'create the worker table and its rows, or add Raindrop to a Nest application',
        async (_, flags, output) => (await import('./commands/init.js')).init(flags, output),
      ),
    ),
    database,
  )
    .option('--project [folder]', 'add module, entity and migration to the Nest application in this folder instead')
    .option('--module-only', 'with --project: add only the module')
    .option('--dry-run', 'print the SQL or the files, change nothing')
    .option('--oldest <time>', OLDEST)
    .addOption(
      new Option(
        '--database-ids',
        'then install a function of PostgreSQL that makes IDs, for rows that no process inserts',
      ).conflicts(['project', 'moduleOnly']),
    );
  withFunctionFlags(making, '... with --database-ids:');

  withDatabaseFlags(
    withLayoutFlags(
      add('fence', 'make a worker table safe after it was restored from a backup', async (_, flags, output) =>
        (await import('./commands/workers.js')).fence(flags, output),
      ),
    ),
    database,
  )
    .option('--yes', 'apply the change')
    .option('--issued-until <time>', 'state that no ID of a later time was issued, where the clock seems to be behind')
    .option('--only-this-layout', 'state that no other layout has issued IDs which the table does not show');

  withSeveralDatabases(
    withLayoutFlags(
      add('doctor', 'check database, rights, clocks, durability, layout and table', async (_, flags, output) =>
        (await import('./commands/doctor.js')).doctor(flags, output),
      ),
    ),
  ).option('--app <module>', "the application's module that exports its database: whether IDs keep their digits there");

  withDatabaseFlags(
    withLayoutFlags(
      add('bench', 'measure IDs per second on this machine', async (_, flags, output) =>
        (await import('./commands/bench.js')).bench(flags, output),
      ),
    ),
    database,
  ).option('--seconds <seconds>', 'duration', '4');

  withDatabaseFlags(
    withLayoutFlags(
      add('adopt', 'plan the migration of tables with old keys to Raindrop IDs', async (_, flags, output) =>
        (await import('./commands/adopt.js')).adopt(flags, output),
      ),
    ),
    { table: false },
  )
    .requiredOption('--table <name>', 'tables to migrate, separated by commas')
    .option('--column <name>', 'key column: one name for all tables, or one for each', 'id')
    .option('--need <ids>', 'IDs per second that one node must issue')
    .option('--nodes <count>', 'number of nodes')
    .option('--from <kind>', 'type of the old keys: number or uuid', 'number')
    .option('--oldest <time>', OLDEST)
    .option(
      '--order-by <column>',
      'with --from uuid: column with the creation time of a row; one name for all tables, or one for each',
    )
    .option('--project <folder>', 'list the code of this application that breaks when keys become strings')
    .option(
      '--write <file>',
      'write the migration to this new file; with --from uuid also a second file, whose name ends in -swap',
    );

  withDatabaseFlags(
    withLayoutFlags(
      add('backfill', 'issue IDs at the times of rows that are older than their IDs', async (_, flags, output) =>
        (await import('./commands/backfill.js')).backfill(flags, output),
      ),
    ),
    { table: false },
  )
    .option('--from <time>', 'the time of the oldest row, such as 2016-04-01 (UTC)')
    .option('--to <time>', 'the time of the newest row (default: now)')
    .option('--table <name>', 'the tables that have IDs of this layout, or get them; several with commas')
    .option('--no-table', '... none has any')
    .option('--column <name>', 'their column with IDs; one name for all tables, or one for each', 'id');

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
    'raindrop next -n 3 --json | raindrop decode --short',
  ],
  plan: [
    'raindrop plan --start 2026-01-01 --timestamp-bits 33 --worker-bits 10 --end-bits 1 --nodes 20',
    'raindrop plan --preset tsid --preset-option nodeBits=8',
  ],
  sql: [
    'raindrop sql --db postgres --layout number',
    'raindrop sql --db postgres --layout number --table orders --partitions month --from 2026-01 --to 2027-01',
    'raindrop sql --issue --url postgres://localhost/shop --grant app',
  ],
  backfill: [
    'raindrop backfill --config raindrop.json --from 2016-04-01 --table orders < times.txt > ids.txt',
    'raindrop backfill --config raindrop.json --from 2016-04-01 --no-table --json < times.txt',
  ],
  workers: ['raindrop workers --url postgres://localhost/shop', 'raindrop workers --watch'],
  who: ['raindrop who 30077675337940992 --url postgres://localhost/shop'],
  init: [
    'raindrop init --config raindrop.json',
    'raindrop init --config raindrop.json --dry-run',
    'raindrop init --project',
    'raindrop init --project apps/shop --module-only',
  ],
  fence: ['raindrop fence --config raindrop.json', 'raindrop fence --config raindrop.json --yes'],
  doctor: [
    'raindrop doctor --config raindrop.json',
    'raindrop doctor --url postgres://db-1/orders --url postgres://db-2/billing',
  ],
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
