import { PassThrough, Readable } from 'node:stream';
import { runCli } from '../../../libs/cli/src/run-cli.js';
import { jsonOf, type CliResult, type JsonResult } from './cli-process.js';

export { runCli };

/** Variables that the command reads would come from the environment of the tests. */
for (const name of Object.keys(process.env))
  if (/^(RAINDROP_(?!TEST_)|DATABASE_URL$)/.test(name)) delete process.env[name];

/** Runs `raindrop` in this process: all but the start of one, signals and real streams. Starting Node takes a second. */
export async function raindropHere(args: readonly string[], input?: string): Promise<CliResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = [stdout, stderr].map((stream) => {
    const chunks: string[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    return chunks;
  });
  const stdin = input === undefined ? undefined : Readable.from([input]);
  const code = await runCli(args, { stdout, stderr, ...(stdin !== undefined && { stdin }) });
  await new Promise((resolve) => setImmediate(resolve));
  return { code, stdout: texts[0]!.join(''), stderr: texts[1]!.join('') };
}

/** Runs it with `--json`. @throws SyntaxError with what it wrote when that is no JSON */
export async function jsonHere<Result>(args: readonly string[]): Promise<JsonResult<Result>> {
  return jsonOf(await raindropHere([...args, '--json']));
}
