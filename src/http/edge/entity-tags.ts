import type { Request, Response } from 'express';
import { packageVersion } from '../../package-root.ts';

/**
 * Gives a response an ETag, and answers 304 when the client named it in `If-None-Match`. The tag is weak: it stands for
 * the state that the response shows, not for its bytes. Another version of the program may show the same state in
 * another way, so it has other tags.
 * @param version Names the state: another state has another version. What a list shows is also a matter of who asks.
 * @returns whether the response is sent, with nothing left to do
 */
export function isUnchanged(request: Request, response: Response, version: string): boolean {
  const tag = `"${packageVersion}-${version}"`;
  response.set('ETag', `W/${tag}`);
  const known = request.headers['if-none-match'];
  if (known === undefined || !namesTag(known, tag)) return false;
  response.status(304).end();
  return true;
}

/** Whether a list of tags has this one. Weak and strong ones are alike here (RFC 9110, 13.1.2). */
function namesTag(list: string, tag: string): boolean {
  return list.split(',').some((item) => {
    const text = item.trim();
    return text === '*' || text === tag || text === `W/${tag}`;
  });
}
