import type { Request } from 'express';
import type { Socket } from 'node:net';
import type { AccessControl } from '../../access/access-control.ts';
import type { Principal } from '../../access/principal.ts';

/** A request that was allowed, and the state of all definitions at that time. */
interface Allowed {
  readonly principal: Principal;
  readonly method: string;
  readonly path: string;
  readonly revision: number;
}

/**
 * The request of each connection that was allowed last: the same one again, as of a producer or a consumer, is not
 * looked up again. A key that changed is another principal, and a definition that changed ends what is known.
 */
export class AllowedRequests {
  readonly #access: Pick<AccessControl, 'revision'>;
  readonly #bySocket = new WeakMap<Socket, Allowed>();

  constructor(access: Pick<AccessControl, 'revision'>) {
    this.#access = access;
  }

  /** Whether a principal may do what a request asks for, as far as the connection knows. */
  has({ socket, method, path }: Request, principal: Principal): boolean {
    const last = this.#bySocket.get(socket);
    return (
      last !== undefined &&
      last.principal === principal &&
      last.revision === this.#access.revision &&
      last.path === path &&
      last.method === method
    );
  }

  /** Remembers that a principal may do what a request asks for. */
  add({ socket, method, path }: Request, principal: Principal): void {
    this.#bySocket.set(socket, { principal, method, path, revision: this.#access.revision });
  }
}
