import type { Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy.js';
import type { SayNo } from './refusal-packets.js';

/** What a server does with a connection that it has refused. */
export const ENDINGS = ['closes it', 'resets it', 'leaves it open'] as const;

export type Ending = (typeof ENDINGS)[number];

/** The way to a server that at times answers in its place, with a refusal. */
export class RefusingProxy extends TcpProxy {
  /** How many connections were refused. */
  refusals = 0;
  private refusal: { readonly sayNo: SayNo; readonly ending: Ending } | undefined;

  /** Cuts the present connections and refuses new ones. */
  refuse(sayNo: SayNo, ending: Ending): void {
    this.refusal = { sayNo, ending };
    this.cut();
  }

  heal(): void {
    this.refusal = undefined;
  }

  protected override join(client: Socket): void {
    if (this.refusal === undefined) return this.lead(client);
    const { sayNo, ending } = this.refusal;
    client.resume();
    sayNo(client, () => {
      this.refusals++;
      if (ending === 'closes it') client.end();
      // Not at once: what a reset overtakes is never read.
      if (ending === 'resets it') setTimeout(() => client.resetAndDestroy(), 20);
    });
  }
}
