import { PrefetchedIds } from '../../../libs/core/src/prefetch/prefetched-ids.js';
import type { Fault } from './fault-store.js';
import { settle, VirtualTime } from './virtual-time.js';
import { FaultIdSource, type Request } from './prefetch-bench.js';

const MAX_AGE_MS = 1_000;
const OP_TIMEOUT_MS = 200;

/** What happens next: to a caller, to the process, or on the network. */
export type Step =
  | { readonly do: 'now' | 'soon'; readonly count: number; readonly code: string | undefined }
  | { readonly do: 'abort'; readonly count: number; readonly afterMs: number }
  | { readonly do: 'pass' | 'freeze' | 'sleep'; readonly ms: number }
  | { readonly do: 'restore' }
  | { readonly do: 'close' };

/** What a run came to. */
interface Outcome {
  readonly violations: readonly string[];
  readonly issued: number;
  readonly happened: ReadonlySet<string>;
}

/** Lets one process go through these steps, while its requests meet these faults one after the other. */
export async function simulate(steps: readonly Step[], faults: readonly (Fault | undefined)[]): Promise<Outcome> {
  const run = new Run(faults);
  for (const step of steps) await run.take(step);
  return run.end();
}

class Run {
  private readonly time = new VirtualTime(0);
  private readonly source = new FaultIdSource(this.time.another());
  private readonly ids = new PrefetchedIds(this.source, this.time, {
    minStep: 4,
    maxStep: 32,
    maxAgeMs: MAX_AGE_MS,
    opTimeoutMs: OP_TIMEOUT_MS,
    asyncTimeoutMs: 300,
    retryBaseMs: 10,
    retryMaxMs: 200,
    maxBatch: 50,
  });
  private readonly violations: string[] = [];
  private readonly happened = new Set<string>();
  private readonly handedOut = new Set<string>();
  private readonly highest = new Map<string, bigint>();
  private unsettled = 0;
  private issued = 0;
  /** How long the host has slept: time that only its wall clock knows of. */
  private sleptMs = 0;
  /** The same when a request went out. */
  private readonly sleptBefore = new Map<Request, number>();
  /** Requests before this one have a copy of their own answer elsewhere. */
  private copiedBefore = 0;

  constructor(private readonly faults: readonly (Fault | undefined)[]) {
    let next = 0;
    this.source.faultFor = () => {
      this.checkSingleFlight();
      this.sleptBefore.set(this.source.requests.at(-1)!, this.sleptMs);
      const fault = this.faults[next++ % Math.max(1, this.faults.length)];
      if (fault !== undefined) this.happened.add(fault.kind);
      return fault;
    };
  }

  async take(step: Step): Promise<void> {
    this.happened.add(step.do);
    switch (step.do) {
      case 'now':
        this.now(step.count, step.code);
        return;
      case 'soon':
        this.soon(step.count, step.code);
        return;
      case 'abort': {
        const controller = new AbortController();
        this.soon(step.count, undefined, controller.signal);
        this.time.another().setTimer(() => controller.abort('enough'), step.afterMs);
        return;
      }
      case 'pass':
        return this.time.advance(step.ms);
      case 'freeze':
        // What was taken before is with its caller.
        await settle();
        return this.time.freeze(step.ms);
      case 'sleep':
        await settle();
        this.sleptMs += step.ms;
        return this.time.step(step.ms);
      case 'restore':
        await settle();
        this.copiedBefore = this.source.requests.length;
        return this.ids.afterRestore();
      case 'close':
        return this.ids.close();
    }
  }

  async end(): Promise<Outcome> {
    await this.time.advance(10_000);
    await settle();
    if (this.unsettled > 0) this.violations.push(`${this.unsettled} callers wait for ever`);
    this.balance();
    return { violations: this.violations, issued: this.issued, happened: this.happened };
  }

  private now(count: number, code: string | undefined): void {
    try {
      this.note(this.ids.nextIds(count, code), code);
    } catch (error) {
      this.happened.add((error as Error).name);
    }
  }

  private soon(count: number, code: string | undefined, signal?: AbortSignal): void {
    this.unsettled++;
    this.ids
      .nextIdsAsync(count, code, signal && { signal })
      // A sync call may overtake what is on its way to the caller: only its own kind is compared.
      .then((ids) => this.note(ids, code, 'soon'))
      .catch((error: Error | string) => this.happened.add(typeof error === 'string' ? error : error.name))
      .finally(() => this.unsettled--);
  }

  private note(ids: readonly bigint[], code: string | undefined, kind = 'now'): void {
    const { violations, handedOut, highest } = this;
    const lane = `${kind} ${code}`;
    for (const id of ids) {
      const request = this.requestOf(id, code);
      const name = `${id} of ${code}`;
      if (request === undefined) violations.push(`${name} was never issued`);
      else if (this.source.requests.indexOf(request) < this.copiedBefore)
        violations.push(`${name} twice: a copy has it`);
      else if (this.ageOf(request) > MAX_AGE_MS) violations.push(`${name} is too old`);
      if (handedOut.has(name)) violations.push(`${name} was handed out twice`);
      if (id <= (highest.get(lane) ?? 0n)) violations.push(`${name} came after ${highest.get(lane)}`);
      handedOut.add(name);
      highest.set(lane, id);
      this.issued++;
    }
  }

  private requestOf(id: bigint, code: string | undefined): Request | undefined {
    return this.source.requests.find(({ ids, code: of }) => of === code && ids?.includes(id));
  }

  private ageOf(request: Request): number {
    return this.time.monotonicMs - request.askedAt + this.sleptMs - this.sleptBefore.get(request)!;
  }

  private checkSingleFlight(): void {
    const requests = this.source.requests.slice(this.copiedBefore);
    const fresh = requests.at(-1)!;
    const isRival = ({ isUnderWay, askedAt, code }: Request): boolean =>
      isUnderWay && code === fresh.code && this.time.monotonicMs - askedAt < OP_TIMEOUT_MS;
    if (requests.filter(isRival).length > 1) this.violations.push('two requests are under way');
  }

  /** The books: every ID that came is somewhere. */
  private balance(): void {
    // Looking at it drops what is too old.
    const left = this.ids.status().reduce((sum, each) => sum + each.left, 0);
    const { received, late, aged, forgotten, issued } = this.ids.counters;
    const came = this.source.requests.reduce((sum, each) => sum + (each.isAnswered ? each.ids!.length : 0), 0);
    if (came !== received + late) this.violations.push(`${came} came, ${received} kept, ${late} late`);
    const kept = issued + left + aged + forgotten;
    if (received !== kept) this.violations.push(`${received} came, ${kept} are somewhere`);
    if (issued !== this.issued) this.violations.push(`${issued} are counted, ${this.issued} were handed out`);
  }
}
