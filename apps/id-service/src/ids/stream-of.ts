import { Readable } from 'node:stream';

/** What may wait for the reader, beside what the system keeps for its connection. */
const AT_HAND_BYTES = 65_536;

/**
 * A stream of what a generator yields. The first part is taken before there is a stream, so that a failure at the start
 * can still become an answer of its own; a later one becomes the last part.
 *
 * @throws what the generator throws before its first part
 */
export async function streamOf(
  parts: AsyncGenerator<Buffer>,
  lastWords: (error: unknown) => string,
): Promise<Readable> {
  const first = await parts.next();
  async function* all(): AsyncGenerator<Buffer | string> {
    try {
      if (first.done !== true) yield first.value;
      yield* parts;
    } catch (error) {
      yield lastWords(error);
    }
  }
  const stream = Readable.from(all(), { objectMode: false, highWaterMark: AT_HAND_BYTES });
  // A stream that nobody began to read does not end what it is made of.
  return stream.once('close', () => void parts.return(undefined).catch(() => undefined));
}
