import { signal } from '@preact/signals';

/** Whether the service responds, and whether it requires a key. */
export interface Connection {
  readonly reachable: boolean;
  readonly keyRequired: boolean;
  /** Grows when the service is back or a key was entered. Everything on the page is then requested again. */
  readonly generation: number;
}

export const connection = signal<Connection>({ reachable: true, keyRequired: false, generation: 0 });
