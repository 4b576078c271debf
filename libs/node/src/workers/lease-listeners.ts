import type { LeaseEvent } from '@raindrop/core';
import { tellListener } from '../system/tell-listeners.js';

/** Those who are told what happens to a worker. What one of them throws reaches neither the others nor the keeper. */
export class LeaseListeners {
  private readonly listeners: ((event: LeaseEvent) => void)[] = [];

  add(listener: (event: LeaseEvent) => void): void {
    this.listeners.push(listener);
  }

  readonly tell = (event: LeaseEvent): void => {
    for (const listener of this.listeners) tellListener(event, () => listener(event));
  };
}
