import type { PastIds } from '@raindrop/core';
import { type BackfillOptions, openBackfill } from '@raindrop/node';
import { keyPathsOf } from '../adopt/old-key.js';
import { InputError } from '../input-error.js';
import type { CliOutput } from '../io/cli-output.js';
import { linesOf } from '../io/text.js';
import { type FlagValues, moduleOptions } from '../options/module-options.js';
import { timeOf } from '../options/oldest-row.js';
import { resolveWorkers, withExistingFile } from '../service/open-workers.js';

/** So many times are read, and IDs written, at a time. */
const SLICE = 1_000;

/**
 * `raindrop backfill`: reserves a stretch of the past on a worker row, reads the times of rows from stdin, oldest first,
 * and writes an ID of each time.
 */
export async function backfill(flags: FlagValues, output: CliOutput): Promise<void> {
  const options = withExistingFile(backfillOptions(flags));
  resolveWorkers(moduleOptions({ ...flags, table: undefined }));
  const stdin = stdinOf(output);
  const ids = await openBackfill(options as BackfillOptions);
  const { isJson } = output;
  let done = 0;
  if (isJson) await output.write(headOf(ids));
  try {
    for await (const lines of linesOf(stdin, SLICE)) {
      output.interruption.check();
      const slice = lines.map((text, index) => idAt(ids, text, done + index + 1));
      await output.write(
        isJson ? slice.map((id, index) => `${done + index > 0 ? ',' : ''}"${id}"`).join('\n') : `${slice.join('\n')}\n`,
      );
      done += slice.length;
    }
  } finally {
    // A result that ends early is one JSON document as well.
    if (isJson) output.finish(']}\n');
  }
  if (done === 0) throw new InputError('stdin has no times: give one a line, the oldest first');
}

function backfillOptions(flags: FlagValues): BackfillOptions {
  const { from, to, table } = flags as { from?: string; to?: string; table?: string | false };
  if (from === undefined)
    throw new InputError('--from is required: the time of the oldest row, such as --from 2016-04-01');
  if (table === undefined) {
    throw new InputError(
      '--table is required: the tables that have IDs of this layout, or get them, such as --table orders,users. If no ' +
        'table has any, give --no-table',
    );
  }
  // `--table` names tables with IDs, not the worker table.
  const options = moduleOptions({ ...flags, table: undefined });
  const paths = table === false ? [] : keyPathsOf(table, flags['column'] as string);
  const tables = paths.map(({ schema, name, column }) => ({
    table: schema === undefined ? name : `${schema}.${name}`,
    column,
  }));
  return { ...options, from: timeOf('--from', from), ...(to !== undefined && { to: timeOf('--to', to) }), tables };
}

function idAt(ids: PastIds, text: string, line: number): bigint {
  return ids.at(timeOf(`line ${line} of stdin:`, text));
}

function headOf({ workerId, lane, from, to, layout }: PastIds): string {
  const head = { workerId, lane, from, to, layout: layout.fingerprint };
  return `${JSON.stringify(head).slice(0, -1)},"ids":[`;
}

function stdinOf({ stdin }: CliOutput): NodeJS.ReadableStream {
  if (stdin !== undefined && (stdin as Partial<NodeJS.ReadStream>).isTTY !== true) return stdin;
  throw new InputError('times are read from stdin, one a line, the oldest first: raindrop backfill ... < times.txt');
}
