import type { Request } from 'express';
import type { Socket } from 'node:net';
import type { ApiKeys } from '../../access/api-keys.ts';
import type { Principal } from '../../access/principal.ts';

/** The header by which a key of the registry was presented, and whose it is. */
interface Credential {
  readonly header: 'authorization' | 'apikey';
  readonly text: string;
  readonly principal: Principal;
}

/**
 * The key of the registry that each connection presented last: presenting it again costs no digest. Whether the key
 * still counts is asked each time, so a revoked one is refused on the connection that knows it. It is gone with the
 * connection, and no other connection sees it.
 */
export class ConnectionCredentials {
  readonly #keys: Pick<ApiKeys, 'isCurrent'>;
  readonly #bySocket = new WeakMap<Socket, Credential>();

  constructor(keys: Pick<ApiKeys, 'isCurrent'>) {
    this.#keys = keys;
  }

  /** The principal of a request that presents what its connection presented before; undefined for any other. */
  principalOf(request: Request): Principal | undefined {
    const known = this.#bySocket.get(request.socket);
    if (known === undefined) return undefined;
    const presented = onlyHeader(request);
    if (presented?.header !== known.header || !isSameText(presented.text, known.text)) return undefined;
    return this.#keys.isCurrent(known.principal) ? known.principal : undefined;
  }

  /** Remembers whose the key of a request is, unless it is not of the registry or more than one could be meant. */
  remember(request: Request, principal: Principal): void {
    // A certificate is no header, and keys of the settings are compared each time.
    if (principal.credential.kind !== 'api-key') return;
    const presented = onlyHeader(request);
    if (presented !== undefined) this.#bySocket.set(request.socket, { ...presented, principal });
  }
}

/** The one header that presents a key; undefined when there is none, or both. */
function onlyHeader({ headers }: Request): Pick<Credential, 'header' | 'text'> | undefined {
  const { authorization, apikey } = headers;
  if (authorization === undefined) {
    return typeof apikey === 'string' ? { header: 'apikey', text: apikey } : undefined;
  }
  return apikey === undefined ? { header: 'authorization', text: authorization } : undefined;
}

/**
 * Whether two texts are equal. Behind a proxy, clients share connections: the time taken reveals no more than the
 * length.
 */
function isSameText(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index += 1) difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  return difference === 0;
}
