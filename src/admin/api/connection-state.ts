import { signal } from '@preact/signals';

/** Whether the service responds, and whether it requires a key. */
export interface Connection {
  readonly reachable: boolean;
  readonly keyRequired: boolean;
  /** Whether the service gave something to this page although it sent no key: it gives it to everybody. */
  readonly openToAll: boolean;
  /** Grows when the service is back or a key was entered. Everything on the page is then requested again. */
  readonly generation: number;
}

export const connection = signal<Connection>({ reachable: true, keyRequired: false, openToAll: false, generation: 0 });
