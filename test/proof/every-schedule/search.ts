import { performance } from 'node:perf_hooks';
import { type Act, contains } from './acts.js';
import { stateKey } from './state-key.js';
import { type Checkpoint, type Rules, World } from './world.js';

/** What is searched. */
export interface Search {
  readonly rules: Rules;
  /** What has happened before. */
  readonly past: readonly Act[];
  /** What may happen next, in any order and any number. */
  readonly alphabet: readonly Act[];
}

/** Where a search ends. */
export interface Limits {
  /** The most acts in a schedule, without the past. */
  readonly depth: number;
  readonly seconds?: number;
  /** How many findings are enough. */
  readonly findings?: number;
}

/** A schedule after which an ID was issued twice. */
export interface Finding {
  readonly acts: readonly Act[];
  readonly id: bigint;
  /** How long the last process lives on until it repeats the ID, ms. */
  readonly afterMs: number;
}

export interface SearchResult {
  /** The shortest first. One that contains another, with further acts, is left out. */
  readonly findings: readonly Finding[];
  readonly schedules: number;
  readonly states: number;
  /** All schedules of so many acts were played. */
  readonly depth: number;
  /** IDs below earlier ones of their worker id and lane, after which none was repeated. */
  readonly unconfirmed: number;
  readonly seconds: number;
}

/** A state, and how to come to it. */
interface Node {
  readonly acts: readonly Act[];
  readonly from: Checkpoint | undefined;
  /** The acts since the checkpoint. */
  readonly since: readonly Act[];
  readonly next: readonly Act[];
}

/**
 * Plays all schedules of an alphabet, those with fewer acts first, through the real classes. A schedule that comes to a
 * state which an earlier one has come to is not continued.
 *
 * A process cannot be copied. So a schedule is continued from the last moment at which none ran, and the acts since then
 * are played again.
 */
export async function search({ rules, past, alphabet }: Search, limits: Limits): Promise<SearchResult> {
  const began = performance.now();
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const seen = new Set<string>();
  const findings: Finding[] = [];
  let [schedules, unconfirmed, depth] = [0, 0, 0];
  const seconds = (): number => (performance.now() - began) / 1_000;
  const isOver = (): boolean =>
    seconds() >= (limits.seconds ?? Infinity) || findings.length >= (limits.findings ?? Infinity);
  const nodeOf = (world: World, acts: readonly Act[], parent?: Node, act?: Act): Node => {
    const { checkpoint } = world;
    const since = checkpoint !== undefined ? [] : [...(parent?.since ?? past), ...(act === undefined ? [] : [act])];
    return { acts, from: checkpoint ?? parent?.from, since, next: alphabet.filter((each) => world.allows(each)) };
  };
  try {
    const first = new World(rules);
    for (const act of past) await first.play(act);
    let nodes = [nodeOf(first, [])];
    seen.add(stateKey(first));
    while (depth < limits.depth && nodes.length > 0 && !isOver()) {
      const later: Node[] = [];
      for (const node of nodes) {
        for (const act of node.next) {
          if (isOver()) break;
          const acts = [...node.acts, act];
          if (findings.some((each) => contains(acts, each.acts))) continue;
          schedules++;
          const world = new World(rules, node.from);
          for (const each of [...node.since, act]) await world.play(each);
          if (world.suspect !== undefined || world.repeated !== undefined) {
            const repeat = await world.confirm();
            if (repeat === undefined) unconfirmed++;
            else findings.push({ acts, ...repeat });
            continue;
          }
          const key = stateKey(world);
          if (seen.has(key)) continue;
          seen.add(key);
          later.push(nodeOf(world, acts, node, act));
        }
      }
      if (!isOver()) depth++;
      nodes = later;
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { findings, schedules, states: seen.size, depth, unconfirmed, seconds: seconds() };
}
