import type { EtcdGateway } from './etcd-gateway.js';

/**
 * A lease of etcd, which ends when nobody keeps it alive: a row whose holder has crashed is free then, and nobody has to
 * watch it for as long as a lease lasts. Nothing else depends on it.
 */
export class EtcdLiveness {
  private lease: { readonly id: string; readonly seconds: number } | undefined;

  constructor(private readonly gateway: EtcdGateway) {}

  /** The lease's id, once it has that long to live again. @throws EtcdUnavailableError; EtcdRefusedError */
  async keep(ms: number): Promise<string> {
    const what = 'keeping a lease';
    const seconds = Math.max(1, Math.ceil(ms / 1_000));
    const { lease } = this;
    if (lease?.seconds === seconds) {
      const answer = await this.gateway.write(what, '/v3/lease/keepalive', { ID: lease.id });
      const { TTL } = Object(answer['result']) as { TTL?: unknown };
      if (Number(TTL) > 0) return lease.id;
    }
    const { ID } = await this.gateway.write(what, '/v3/lease/grant', { TTL: String(seconds) });
    this.lease = { id: String(ID), seconds };
    return this.lease.id;
  }

  /** The next call asks for a new one. */
  forget(): void {
    this.lease = undefined;
  }
}
