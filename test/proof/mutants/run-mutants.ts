import { Command, Option } from 'commander';
import { catchMutants } from './catch-mutants.js';
import { ALL_MUTANTS } from './show-mutants.js';

const names = ALL_MUTANTS.map(({ name }) => name);

async function main(): Promise<void> {
  const { only, json } = new Command('mutants')
    .description('Plants one fault after the other in a copy of the sources: the test that is named must notice it.')
    .addOption(new Option('--only <names...>', 'only these').choices(names).default([], 'all'))
    .option('--json', 'print one line of JSON')
    .parse()
    .opts<{ only: string[]; json?: boolean }>();
  const began = performance.now();
  const mutants = await catchMutants(only, ({ name, isCaught }) => {
    const seconds = Math.round((performance.now() - began) / 1_000);
    process.stderr.write(`${seconds} s: ${name} ${isCaught ? 'is caught' : 'IS NOT CAUGHT'}\n`);
  });
  const rows = mutants.map(({ name, breaks, tier, spec, isCaught }) =>
    [breaks, `\`${name}\``, tier, `\`${spec}\``, isCaught ? 'yes' : '**no**'].join(' | '),
  );
  const head = ['promise that is broken | fault | tier | caught by | caught', '--- | --- | --- | --- | ---'];
  const table = [...head, ...rows].map((row) => `| ${row} |\n`).join('');
  process.stdout.write(json === true ? `${JSON.stringify(mutants)}\n` : table);
  if (mutants.some(({ isCaught }) => !isCaught)) process.exitCode = 1;
}

void main();
