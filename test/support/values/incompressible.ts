import { randomBytes } from 'node:crypto';

/** A value that takes as many bytes in every log, since no log can compress it. */
export function incompressible(bytes: number): Buffer {
  return randomBytes(bytes);
}
