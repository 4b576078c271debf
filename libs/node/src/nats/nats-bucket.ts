/** What a NATS says of the stream under a bucket, as far as it matters here. */
export interface StreamSettings {
  readonly storage?: string;
  readonly retention?: string;
  readonly discard?: string;
  readonly num_replicas?: number;
  readonly max_msgs_per_subject?: number;
  readonly max_age?: number;
  readonly max_bytes?: number;
  readonly max_msgs?: number;
  readonly no_ack?: boolean;
  readonly persist_mode?: string;
  readonly mirror?: unknown;
  readonly sources?: unknown;
}

/** How many texts of a key are kept: more than a key gets while one call lasts. */
export const LEAST_HISTORY = 16;

/** Before it, whole streams were lost when processes were killed (nats-io/nats-server#6888). */
const SAFE_VERSION = [2, 10, 23];

/** What of a server's version would lose acknowledged writes, in words. */
export function problemsOfVersion(version: string): string[] {
  const parts = version.split(/[.-]/).map(Number);
  const different = SAFE_VERSION.findIndex((part, index) => part !== parts[index]);
  if (different < 0 || parts[different]! > SAFE_VERSION[different]!) return [];
  return [`nats-server ${version} can lose a stream when it is killed: use ${SAFE_VERSION.join('.')} or later`];
}

/** What of a bucket's settings would lose acknowledged writes, in words. */
export function problemsOfBucket(settings: StreamSettings): string[] {
  const { storage, retention, discard, no_ack: noAck, persist_mode: persistMode, mirror } = settings;
  const { max_age: maxAge = 0, max_bytes: maxBytes = -1, max_msgs: maxMessages = -1 } = settings;
  const sources = Array.isArray(settings.sources) ? settings.sources.length : 0;
  const { max_msgs_per_subject: history = -1 } = settings;
  const isLimited = maxBytes > 0 || maxMessages > 0;
  const problems: readonly (readonly [boolean, string])[] = [
    [storage !== 'file', `storage is ${storage}: make a bucket with storage file`],
    [retention !== 'limits', `retention is ${retention}: make a bucket with retention limits`],
    [history < LEAST_HISTORY, `history is ${history}: set it to ${LEAST_HISTORY}, at most 64`],
    [maxAge > 0, 'values expire (ttl): set max_age to 0'],
    [discard === 'old' && isLimited, 'what is old is dropped when it is full: set discard to new'],
    [noAck === true, 'it acknowledges nothing (no_ack): make another bucket'],
    [persistMode === 'async', 'it acknowledges before it writes (persist_mode async): make another bucket'],
    [mirror != null || sources > 0, 'it copies another stream: use the bucket that is copied'],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

/** What may be lost although it was acknowledged, in words. */
export function warningsOf(
  { num_replicas: replicas = 1 }: StreamSettings,
  isCluster: boolean,
  isSynced: boolean,
): string[] {
  const warnings: string[] = [];
  if (isCluster && replicas < 3) {
    warnings.push(
      `the NATS bucket has ${replicas} ${replicas === 1 ? 'replica' : 'replicas'} in a cluster: no worker id is leased ` +
        `while one server is away, and a disk that is lost takes the rows along. Set num_replicas to 3`,
    );
  }
  if (!isSynced) {
    warnings.push(
      'NATS acknowledges writes before they are on disk: when most servers lose their power at once, the last two minutes ' +
        'may be gone. Set sync_interval to always on each server and syncAlways to true in natsWorkers(), or set ' +
        'commitLossWindowMs to 120000',
    );
  }
  return warnings;
}
