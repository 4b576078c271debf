import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';

const MOST_QUERIES = 1_000;

/**
 * Lets another pipe check the same query once: checking takes a sixth of a request for one ID, and such requests are
 * much alike. What a query becomes is frozen, because later requests get the same object.
 */
export class RememberingPipe implements PipeTransform {
  /** What became of the queries that were accepted, by their JSON, for every class that describes some. */
  private readonly accepted = new Map<unknown, Map<string, unknown>>();

  constructor(private readonly pipe: PipeTransform) {}

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    // With a name (`data`) the value is not the whole query but one text of it.
    if (metadata.type !== 'query' || metadata.data !== undefined) return this.pipe.transform(value, metadata);
    // A query is names with a text or several: no two that differ have the same JSON.
    const key = JSON.stringify(value);
    return this.accepted.get(metadata.metatype)?.get(key) ?? this.check(key, value, metadata);
  }

  private async check(key: string, value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const query: unknown = Object.freeze(await this.pipe.transform(value, metadata));
    const known = this.accepted.get(metadata.metatype) ?? new Map<string, unknown>();
    this.accepted.set(metadata.metatype, known);
    if (known.size >= MOST_QUERIES) known.clear();
    known.set(key, query);
    return query;
  }
}
