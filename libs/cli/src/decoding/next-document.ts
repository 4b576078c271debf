import { decimalOf } from './readers.js';

/** The parts of a document that matter: a name with its colon, a text, and what ends a list or the document. */
const PARTS = /"([^"]*)"\s*(:?)|[\]}]/g;

/** A document of which some lines were read. */
interface Document {
  /** The name whose value comes next; `ids` until the list ends. */
  name: string | undefined;
  format: string | undefined;
  hasIds: boolean;
}

/**
 * Finds the IDs in lines of stdin: an ID a line, or the documents that `next --json` writes,
 * `{"workerId":7,"format":"hex","ids":["6b14...", ...]}`, also as `jq` lays them out.
 * @param slices lines, trimmed and not empty, at most `most` each
 * @param format how the user says that the IDs are written; else IDs of a document come in decimal, because a hexadecimal
 * ID may be all digits and would be read as another one
 * @returns the IDs in their order, at most `most` at a time
 */
export async function* idsOf(
  slices: AsyncIterable<readonly string[]>,
  most: number,
  format: string | undefined,
): AsyncGenerator<readonly string[]> {
  let open: Document | undefined;
  for await (const lines of slices) {
    let plain: string[] = [];
    for (const line of lines) {
      if (open === undefined && !line.startsWith('{')) {
        plain.push(line);
        continue;
      }
      if (plain.length > 0) yield plain;
      plain = [];
      open ??= { name: undefined, format: undefined, hasIds: false };
      const { isOver, texts } = readLine(line, open);
      const written = format === undefined ? open.format : undefined;
      for (let at = 0; at < texts.length; at += most) {
        yield texts.slice(at, at + most).map((text) => inDecimal(text, written));
      }
      // Another document is no list of IDs: it is refused as a wrong ID is.
      if (isOver && !open.hasIds) plain.push(line);
      if (isOver) open = undefined;
    }
    if (plain.length > 0) yield plain;
  }
}

function readLine(line: string, document: Document): { readonly isOver: boolean; readonly texts: readonly string[] } {
  const texts: string[] = [];
  let isOver = false;
  for (const [part, text = '', colon] of line.matchAll(PARTS)) {
    if (part === '}') isOver = true;
    else if (part === ']') document.name = undefined;
    else if (colon === ':') document.name = text;
    else if (document.name === 'format') document.format = text;
    else if (document.name === 'ids') texts.push(text);
    if (document.name === 'ids') document.hasIds = true;
  }
  return { isOver, texts };
}

/** The ID in decimal; the text itself when it is none of that format. */
function inDecimal(text: string, format: string | undefined): string {
  try {
    return decimalOf(text, format);
  } catch {
    return text;
  }
}
