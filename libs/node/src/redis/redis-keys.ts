/**
 * The names of a range and its lock. What is in braces decides about the slot in a Redis cluster: both share one.
 *
 * @see https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
 */
export class RedisKeys {
  private constructor(
    private readonly range: string,
    private readonly lock: string,
  ) {}

  /** @param scope tells databases and tables apart that share a Redis */
  static ofShard(prefix: string, scope: string, app: number, shard: number): RedisKeys {
    const tag = `{${app}_${shard}@${escaped(scope)}}`;
    return new RedisKeys(`${prefix}idList_${tag}`, `${prefix}lock_${tag}`);
  }

  /** @param scope tells databases and tables apart that share a Redis */
  static ofCode(prefix: string, scope: string, code: string): RedisKeys {
    const tag = `{${escaped(code)}@${escaped(scope)}}`;
    return new RedisKeys(`${prefix}codeList_${tag}`, `${prefix}codeLock_${tag}`);
  }

  /** Both keys under a server's term. */
  under(term: string): readonly [range: string, lock: string] {
    return [`${this.range}.${term}`, `${this.lock}.${term}`];
  }
}

/** Different texts stay different, lone surrogates included, and none has a brace. */
function escaped(text: string): string {
  return text.replace(/[^\w.:-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
