import type { Lane, Odometer } from '@raindrop/core';

/** Where positions are counted: a layout, a worker id and a lane. */
export interface Place {
  readonly layout: string;
  readonly workerId: number;
  readonly lane: Lane;
}

/** What the database has granted to one process without interruption. */
interface Grant {
  owner: object | undefined;
  readonly from: Odometer;
  to: Odometer;
  /** Up to where the owner has learned of it. */
  known: Odometer;
}

/** Negative when `a` comes before `b`. */
export function compareOdometers(a: Odometer, b: Odometer): number {
  return a.ms === b.ms ? a.sequence - b.sequence : a.ms - b.ms;
}

/** Everything that was ever granted, and to whom: stretches of positions, from (exclusive) to (inclusive). */
export class GrantLedger {
  private readonly byPlace = new Map<string, Grant[]>();

  /**
   * @param exclusive false where a database has lost grants: what they hold may be granted again
   * @returns what is wrong with that, if anything
   */
  add(place: Place, owner: object, from: Odometer, to: Odometer, exclusive: boolean): string | undefined {
    if (compareOdometers(to, from) <= 0) return undefined;
    const grants = this.at(place);
    const other = grants.find((each) => each.owner !== owner && compareOdometers(each.to, from) > 0);
    if (exclusive && other !== undefined) {
      return `granted from ${show(from)} to ${show(to)}, where another tenure has been granted up to ${show(other.to)}`;
    }
    const last = grants.at(-1);
    if (last?.owner === owner && compareOdometers(last.to, from) === 0) last.to = to;
    else grants.push({ owner, from, to, known: from });
    return undefined;
  }

  /** The owner has learned that everything up to `to` is his. */
  learn(place: Place, owner: object, to: Odometer): void {
    for (const each of this.at(place)) {
      if (each.owner === owner && compareOdometers(each.known, to) < 0) {
        each.known = compareOdometers(each.to, to) < 0 ? each.to : to;
      }
    }
  }

  /** The owner returned the positions past `to`. @returns the problem with that, if any */
  release(place: Place, owner: object, to: Odometer, exclusive: boolean): string | undefined {
    const grants = this.at(place);
    for (const each of grants) {
      if (compareOdometers(each.to, to) <= 0) continue;
      if (each.owner !== owner) {
        if (exclusive) return `gave back all past ${show(to)}, where another tenure has been granted ${show(each.to)}`;
        continue;
      }
      each.to = to;
      if (compareOdometers(each.known, to) > 0) each.known = to;
    }
    this.byPlace.set(
      keyOf(place),
      grants.filter(({ from, to: end }) => compareOdometers(end, from) > 0),
    );
    return undefined;
  }

  /** True when the position was granted to the owner, who knows it. */
  covers(place: Place, owner: object, position: Odometer): boolean {
    const grants = this.at(place);
    for (let index = grants.length - 1; index >= 0; index--) {
      const { owner: whose, from, known } = grants[index]!;
      if (whose === owner && compareOdometers(position, from) > 0 && compareOdometers(position, known) <= 0)
        return true;
    }
    return false;
  }

  /** The earlier grants of a process belong to no process any more. */
  disown(owner: object): void {
    for (const grants of this.byPlace.values()) {
      for (const each of grants) if (each.owner === owner) each.owner = undefined;
    }
  }

  private at(place: Place): Grant[] {
    const key = keyOf(place);
    let grants = this.byPlace.get(key);
    if (grants === undefined) this.byPlace.set(key, (grants = []));
    return grants;
  }
}

function keyOf({ layout, workerId, lane }: Place): string {
  return `${workerId}/${lane}/${layout}`;
}

function show({ ms, sequence }: Odometer): string {
  return `${ms}/${sequence}`;
}
