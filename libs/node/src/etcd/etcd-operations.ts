import type { Seen } from '../key-values/key-values.js';
import { EtcdUnavailableError } from './etcd-errors.js';
import type { EtcdAnswer } from './etcd-gateway.js';

export const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** A part of a transaction that reads a key. */
export const get = (key: string): object => ({ request_range: { key: toBase64(key) } });

/** @param lease of etcd, with which the key goes */
export const put = (key: string, text: string, lease?: string): object => ({
  request_put: { key: toBase64(key), value: toBase64(text), ...(lease !== undefined && { lease }) },
});

export const remove = (key: string): object => ({ request_delete_range: { key: toBase64(key) } });

/** The condition that a key has that value still; undefined for none. By value: another cluster counts revisions anew. */
export const isStill = (key: string, text: string | undefined): object =>
  text === undefined
    ? { key: toBase64(key), target: 'CREATE', result: 'EQUAL', create_revision: '0' }
    : { key: toBase64(key), target: 'VALUE', result: 'EQUAL', value: toBase64(text) };

/** The parts of the answer to a transaction of so many. @throws EtcdUnavailableError for what etcd does not answer */
export function partsOf({ responses = [] }: EtcdAnswer, count: number): EtcdAnswer[] {
  if (!Array.isArray(responses) || responses.length !== count) throw noEtcd();
  return responses.map((part: unknown) => Object((Object(part) as EtcdAnswer)['response_range']) as EtcdAnswer);
}

/** The keys in a range of an answer, and their values. @throws EtcdUnavailableError for what etcd does not answer */
export function keysIn(range: EtcdAnswer): readonly { readonly key: string; readonly value?: string }[] {
  const { kvs = [] } = range;
  const isText = (value: unknown): boolean => typeof value === 'string';
  const isLegal = ({ key, value = '' }: EtcdAnswer): boolean => isText(key) && isText(value);
  if (Array.isArray(kvs) && kvs.every((each) => isLegal(Object(each) as EtcdAnswer))) {
    return kvs as { key: string; value?: string }[];
  }
  throw noEtcd();
}

/** What was read, and where. @throws EtcdUnavailableError */
export function seenIn(answer: EtcdAnswer, ranges: readonly EtcdAnswer[]): Seen {
  const { cluster_id: cluster, revision } = Object(answer['header']) as EtcdAnswer;
  const entries = new Map<string, string>();
  for (const range of ranges) {
    for (const { key, value = '' } of keysIn(range)) entries.set(textOf(key), textOf(value));
  }
  return { entries, cluster: String(cluster), revision: Number(revision) };
}

/** All keys that begin so. */
export function rangeOf(prefix: string): { readonly key: string; readonly range_end: string } {
  const end = Buffer.from(prefix);
  // Prefixes end with a slash.
  end[end.length - 1]!++;
  return { key: toBase64(prefix), range_end: end.toString('base64') };
}

const textOf = (base64: string): string => Buffer.from(base64, 'base64').toString();

const noEtcd = (): EtcdUnavailableError => new EtcdUnavailableError('reading keys', 'what answers is no etcd');
