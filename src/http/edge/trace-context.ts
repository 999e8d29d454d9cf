import type { Request } from 'express';

/**
 * The header `traceparent` of W3C's trace context: version, trace, span and flags in hexadecimal. A later version may
 * have more after them.
 */
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The longest header that is read. A later version than today's may be longer than that one's 55. Characters. */
export const traceparentCharactersMaximum = 255;

/**
 * Where a request belongs in a trace, in the form of version 00; undefined when it does not say so. A malformed header
 * counts as none, as the standard demands: tracing never makes a request fail.
 */
export function traceparentOf({ headers }: Request): string | undefined {
  const sent = headers['traceparent'];
  if (typeof sent !== 'string' || sent.length > traceparentCharactersMaximum) return undefined;
  const [, version, trace, span, flags, more] = form.exec(sent) ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  return `00-${trace}-${span}-${flags}`;
}
