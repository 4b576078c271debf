import { createInterface } from 'node:readline';

/** The lines of a stream without blanks around them, and none that is empty, as many at a time as `most` says. */
export async function* linesOf(stream: NodeJS.ReadableStream, most: number): AsyncGenerator<string[]> {
  let lines: string[] = [];
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
    const text = line.trim();
    if (text !== '') lines.push(text);
    if (lines.length < most) continue;
    yield lines;
    lines = [];
  }
  if (lines.length > 0) yield lines;
}
