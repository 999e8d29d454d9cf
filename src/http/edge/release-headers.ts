import type { Request, Response } from 'express';
import { OutgoingMessage } from 'node:http';

/** In place of the path parameters of a request that has found its route. */
const releasedParameters = Object.freeze({ id: '' });

/** In place of the headers of a request. */
const noHeaders = Object.freeze({});
const noRawHeaders: string[] = [];

/** The symbol under which Node keeps the headers of a response by name, even after they were sent. */
const headersByName = Object.getOwnPropertySymbols(new OutgoingMessage()).find(
  ({ description }) => description === 'kOutHeaders',
);

/**
 * Releases the parts of a request and its response that are no longer needed once the headers are sent: the routing of
 * the request, the headers of both and the text of those sent. That is 3 KB for each response that stays open for
 * hours, of which there may be thousands. Afterwards neither object shows its headers; that they were sent can still be
 * seen.
 * @param response The response whose headers were sent.
 */
export function releaseHeaders(request: Request<{ id: string }>, response: Response): void {
  request.next = undefined;
  request.params = releasedParameters;
  request.headers = noHeaders;
  request.rawHeaders = noRawHeaders;
  Object.assign(request, { _parsedUrl: undefined });
  // Node only checks whether the text exists.
  Object.assign(response, { _header: 'sent' });
  if (headersByName !== undefined) Object.assign(response, { [headersByName]: null });
}
