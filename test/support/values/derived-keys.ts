import type { ScryptOptions } from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';

type ScryptSync = (key: string, salt: Buffer, bytes: number, options: ScryptOptions) => Buffer;

/**
 * From now on this process derives each key once: from the same words, salt and costs comes the same key, and each
 * derivation takes half a second on purpose. Returns a function that ends that.
 */
export function deriveEachKeyOnce(): () => void {
  const crypto = createRequire(import.meta.url)('node:crypto') as { scryptSync: ScryptSync };
  const original = crypto.scryptSync;
  const derived = new Map<string, Buffer>();
  crypto.scryptSync = (key, salt, bytes, options) => {
    const name = JSON.stringify([key, salt.toString('hex'), bytes, options]);
    const known = derived.get(name) ?? original(key, salt, bytes, options);
    derived.set(name, known);
    return Buffer.from(known);
  };
  syncBuiltinESMExports();
  return () => {
    crypto.scryptSync = original;
    syncBuiltinESMExports();
  };
}
