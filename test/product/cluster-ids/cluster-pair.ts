import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type { PrimaryChannel } from '../../../libs/node/src/cluster/cluster-primary.js';

/** What each message may meet on its way; undefined lets it through. */
export type Trouble = (message: unknown) => 'lost' | 'twice' | { readonly becomes: unknown } | undefined;

/** Both ends of a channel, whose messages go through JSON and arrive in a later microtask. */
export class ClusterPair {
  /** The child, as its parent sees it. */
  readonly child: ChildProcess;
  /** `process`, as the child sees it. */
  readonly process: PrimaryChannel & EventEmitter;
  /** Messages to the parent. */
  up: Trouble = () => undefined;
  /** Messages to the child. */
  down: Trouble = () => undefined;
  /** Everything that was sent, in order. */
  readonly sent: unknown[] = [];
  private isOpen = true;

  constructor() {
    const isOpen = (): boolean => this.isOpen;
    const end = (): EventEmitter & { connected: boolean } =>
      Object.defineProperty(new EventEmitter(), 'connected', { get: isOpen }) as EventEmitter & { connected: boolean };
    const child = end();
    const process = end();
    this.child = Object.assign(child, {
      send: (message: unknown, callback: (error: Error | null) => void) =>
        this.deliver(message, process, this.down, callback),
    }) as unknown as ChildProcess;
    this.process = Object.assign(process, {
      send: (message: unknown, _: undefined, __: undefined, callback: (error: Error | null) => void) =>
        this.deliver(message, child, this.up, callback),
    });
  }

  /** As when either process ends, or closes the channel. */
  disconnect(): void {
    this.isOpen = false;
    this.process.emit('disconnect');
    (this.child as unknown as EventEmitter).emit('disconnect');
  }

  private deliver(
    message: unknown,
    to: EventEmitter,
    trouble: Trouble,
    callback: (error: Error | null) => void,
  ): boolean {
    const text = JSON.stringify(message);
    this.sent.push(JSON.parse(text));
    if (!this.isOpen) {
      queueMicrotask(() => callback(new Error('channel closed')));
      return false;
    }
    const met = trouble(message);
    const times = met === 'lost' ? 0 : met === 'twice' ? 2 : 1;
    for (let time = 0; time < times; time++) {
      const arriving: unknown = typeof met === 'object' ? met.becomes : JSON.parse(text);
      queueMicrotask(() => void (this.isOpen && to.emit('message', arriving)));
    }
    queueMicrotask(() => callback(null));
    return true;
  }
}
