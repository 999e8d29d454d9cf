import type { Request, Response } from 'express';
import { OutgoingMessage } from 'node:http';

/** In place of the parameters in the path of a request that has found its route. */
const routed = Object.freeze({ id: '' });

/** In place of what a client sent besides its path. */
const noHeaders = Object.freeze({});
const noRawHeaders: string[] = [];

/** Where Node keeps the headers of an answer, by name, also when they have long been sent. */
const headersByName = Object.getOwnPropertySymbols(new OutgoingMessage()).find(
  ({ description }) => description === 'kOutHeaders',
);

/**
 * Lets go of everything that request and answer hold of a head that was read and one that was sent: what routed the
 * request, the headers of both, the text of those sent. For answers that stay open for hours, of which there may be
 * thousands: 3 KB each. From here on neither tells its headers any more; that they were sent still can be seen.
 * @param response Whose headers were sent.
 */
export function letGoOfHeads(request: Request<{ id: string }>, response: Response): void {
  request.next = undefined;
  request.params = routed;
  request.headers = noHeaders;
  request.rawHeaders = noRawHeaders;
  Object.assign(request, { _parsedUrl: undefined });
  // Node asks no more of the text than whether there is one.
  Object.assign(response, { _header: 'sent' });
  if (headersByName !== undefined) Object.assign(response, { [headersByName]: null });
}
