import { Command, Option } from 'commander';
import type { EngineRunOptions } from '../engines/engine-report.js';
import { LEGS } from '../engines/legs.js';
import { integer } from './integer.js';

export interface EngineOrders extends EngineRunOptions {
  readonly json: boolean;
  /** Whether what was found goes into the documents. */
  readonly record: boolean;
}

/** Whether a command line asks for an engine, and not for a database. */
export function asksForEngine(argv: readonly string[]): boolean {
  const has = (option: string): boolean => argv.some((each) => each === option || each.startsWith(`${option}=`));
  return has('--engine') && !has('--db');
}

/** @throws CommanderError, after it has said what is wrong */
export function parseEngine(argv: readonly string[]): EngineOrders {
  const given = new Command('chaos')
    .description('Starts an engine, lets processes issue from it, breaks its servers, and compares every ID.')
    .addOption(new Option('--engine <name>', 'what is started').choices(Object.keys(LEGS)).makeOptionMandatory())
    .option('--seconds <n>', 'how long servers are broken', integer(1, 86_400), 60)
    .option('--seed <n>', 'what the faults of the processes follow from', integer(0, 2 ** 31 - 1), 1)
    .option('--faults <list>', 'what is done to the servers, as killNode,pauseNode (default: all)', (text) =>
      text.split(','),
    )
    .option('--min-ids <n>', 'how many IDs there must be', integer(0, 10 ** 10), 1)
    .option('--control', 'leave a safeguard out, so that IDs must repeat', false)
    .option('--keep', 'keep the directory with the IDs', false)
    .option('--record', 'put what was found where npm run docs finds it', false)
    .option('--json', 'print a line of JSON', false)
    .exitOverride()
    .parse(argv)
    .opts<Omit<EngineOrders, 'progress'>>();
  return { ...given, progress: (line) => console.error(`chaos ${given.engine}: ${line}`) };
}
