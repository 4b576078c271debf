import { type IdIssuer, type IssuerView, readIssuer } from '@raindrop/node';
import { isCodecName } from '@raindrop/core/internal';
import { decimalOf, unknownFormat } from '../decoding/readers.js';
import type { CliOutput } from '../io/cli-output.js';
import { type FlagValues, moduleOptions } from '../options/module-options.js';
import { explainMissingTable, requireRows, resolveWorkers, withExistingFile } from '../service/open-workers.js';

/** `raindrop who <id>`: names the process that issued an ID, from the history that services with `workerHistory` keep. */
export async function who([text = '']: readonly string[], flags: FlagValues, output: CliOutput): Promise<void> {
  const given = moduleOptions(flags);
  const options = resolveWorkers(given);
  requireRows('who', options);
  const format = String(flags['format']);
  if (!isCodecName(format)) throw unknownFormat(format);
  const view = await explainMissingTable(options, readIssuer(decimalOf(text, format), withExistingFile(given)));
  const { id, finding, issuer, databaseFunction, historyBegins } = view;
  const { time, workerId, clockBack, sequence } = id;
  const result = {
    id: id.id.toString(),
    time,
    workerId,
    clockBack,
    sequence,
    finding,
    issuer,
    databaseFunction,
    historyBegins,
  };
  await output.result(result, () => [
    `${output.styled('bold', result.id)}  ${time.toISOString()}  worker ${workerId}  sequence ${sequence}`,
    ...(issuer === null ? [FINDINGS[finding as keyof typeof FINDINGS](view)] : linesOf(issuer)),
  ]);
}

const FINDINGS = {
  'not-recorded': () => 'the process that issued it was not recorded',
  'before-history': ({ id, historyBegins }: IssuerView) =>
    historyBegins === null
      ? `the history has no process with worker ${id.workerId}`
      : `the history of worker ${id.workerId} begins later, at ${historyBegins.toISOString()}`,
  'never-issued': ({ id }: IssuerView) => `no process issued it: worker ${id.workerId} has not been granted so far`,
  'by-database': ({ databaseFunction }: IssuerView) => `issued by the database: ${databaseFunction}()`,
  'other-layout': ({ id }: IssuerView) => `not an ID of this layout: its end bits are ${id.endBits}`,
};

const ENDINGS: Readonly<Record<IdIssuer['ending'], string>> = {
  held: 'and still holds it',
  released: 'and gave it back',
  lapsed: 'until it crashed or was cut off',
};

function linesOf({ service, host, pod, pid, begun, ended, ending }: IdIssuer): string[] {
  const place = [pod === '' || pod === host ? '' : `pod ${pod}`, host === '' ? '' : `host ${host}`, `pid ${pid}`];
  const end = ended === null ? ENDINGS[ending] : `${ENDINGS[ending]} at ${ended.toISOString()}`;
  return [
    `issued by service ${service}, ${place.filter((each) => each !== '').join(', ')}`,
    `which acquired the worker id at ${begun.toISOString()} ${end}`,
  ];
}
