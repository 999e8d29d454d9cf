import type { Response } from 'express';
import { anonymous, type Principal } from '../../access/principal.ts';

/** Where the response keeps who sent its request. */
const principalName = 'principal';

/** Who sent the request of a response. */
export function principalOf(response: Response): Principal {
  return (response.locals[principalName] as Principal | undefined) ?? anonymous;
}

/** Says who sent the request of a response. */
export function setPrincipal(response: Response, principal: Principal): void {
  response.locals[principalName] = principal;
}
